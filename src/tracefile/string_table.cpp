// SPDX-License-Identifier: Apache-2.0
#include "tracefile/string_table.hpp"

#include <algorithm>
#include <cstring>

namespace ridgeline::trace {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

}  // namespace

StringTable::StringTable() { (void)id(""); }

NameId StringTable::id(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto number = static_cast<NameId>(texts_.size());
  const auto own = kept(text);
  texts_.push_back(own);
  ids_.emplace(own, number);
  return number;
}

std::string_view StringTable::kept(std::string_view text) {
  if (text.empty()) return {};
  if (blocks_.empty() || block_ - used_ < text.size()) {
    block_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_));
    used_ = 0;
  }
  char* place = blocks_.back().get() + used_;
  std::memcpy(place, text.data(), text.size());
  used_ += text.size();
  return {place, text.size()};
}

}  // namespace ridgeline::trace
