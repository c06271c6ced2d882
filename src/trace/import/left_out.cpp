// SPDX-License-Identifier: Apache-2.0
#include "trace/import/left_out.hpp"

#include <algorithm>

#include "trace/import/message_text.hpp"

namespace ridgeline::trace {

void LeftOut::see(NameId name) {
  if (count_++ == 0) name_ = message_text(trace_.strings.text(name));
}

std::vector<bool> disordered_lanes(const Spans& work, std::size_t lanes) {
  std::vector<bool> out(lanes);
  std::vector<std::int64_t> reached(lanes, std::numeric_limits<std::int64_t>::min());
  for (std::size_t i = 0; i < work.size(); ++i) {
    auto& end = reached[work.lane[i]];
    if (work.start_ns[i] < end) out[work.lane[i]] = true;
    end = work.start_ns[i] + work.duration_ns[i];
  }
  return out;
}

std::int64_t difference(std::int64_t later, std::int64_t earlier) {
  const auto span = static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(span, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

void Period::add(std::int64_t time) {
  first = std::min(first, time);
  last = std::max(last, time);
}

std::int64_t Period::reach(std::int64_t least) const {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return std::max(least, length() > kMost / 10 ? kMost : length() * 10);
}

}  // namespace ridgeline::trace
