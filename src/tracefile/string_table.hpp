// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ridgeline::trace {

/// A string of a StringTable, by number; 0 is "".
using NameId = std::uint32_t;

/// Each string once: a trace of millions of kernels has thousands of names. Views stay valid as long as the table.
class StringTable {
 public:
  StringTable();
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;

  [[nodiscard]] NameId id(std::string_view text);
  [[nodiscard]] std::string_view text(NameId id) const { return texts_.at(id); }
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

 private:
  [[nodiscard]] std::string_view kept(std::string_view text);

  std::deque<std::unique_ptr<char[]>> blocks_;
  std::size_t used_ = 0;  ///< of the last block, whose size is block_
  std::size_t block_ = 0;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace ridgeline::trace
