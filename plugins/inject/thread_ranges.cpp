// SPDX-License-Identifier: Apache-2.0
#include "thread_ranges.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::inject {

void ThreadRanges::push(std::uint32_t name, trace::RangeKind kind, const void* domain, std::int64_t now_ns, bool kept) {
  open_.push_back({{now_ns, now_ns, name, kind}, domain, kept});
  count_kept(kept ? 1 : 0);
}

std::uint32_t ThreadRanges::pop(const void* domain, std::int64_t now_ns) {
  const auto found =
      std::find_if(open_.rbegin(), open_.rend(), [domain](const Open& one) { return one.domain == domain; });
  if (found == open_.rend()) return 0;
  auto range = found->range;
  range.end_ns = now_ns;
  const bool kept = found->kept;
  open_.erase(std::next(found).base());
  if (kept) add(range);
  count_kept(kept ? -1 : 0);
  return range.name;
}

void ThreadRanges::keep(std::uint32_t name, std::int64_t now_ns) {
  for (auto& one : open_)
    if (one.range.name == name && !std::exchange(one.kept, true)) {
      one.range.start_ns = now_ns;
      count_kept(1);
    }
}

std::string ThreadRanges::path(RangeNames& names) const {
  std::string out;
  for (const auto& one : open_) {
    if (!out.empty()) out += '\n';
    out += static_cast<char>('0' + static_cast<int>(one.range.kind));
    for (const auto letter : names.text(one.range.name)) out += letter == '\n' ? ' ' : letter;
  }
  return out;
}

/// Only its own thread writes it.
void ThreadRanges::count_kept(int more) noexcept {
  if (more != 0) kept_.store(kept_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

void ThreadRanges::add(const Ended& ended) {
  const std::lock_guard lock(mutex_);
  ended_.push_back(ended);
}

std::vector<ThreadRanges::Ended> ThreadRanges::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, {});
}

void ThreadRanges::end_all(std::int64_t now_ns) {
  while (!open_.empty()) pop(open_.back().domain, now_ns);
}

}  // namespace ridgeline::inject
