// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/places.hpp"

#include <algorithm>

#include "schema/profile.hpp"
#include "trace/analysis/range_names.hpp"

namespace ridgeline::trace {

void Places::add(const std::string& place, std::int64_t ns) {
  const auto shared = is_python_line(place) ? place : schema::module_class(place);
  auto& sum = by_class_.try_emplace(shared, Sum{{place, 0, 0}, false}).first->second;
  sum.several = sum.several || sum.entry.place != place;
  sum.entry.ns += ns;
  ++sum.entry.count;
}

std::vector<Places::Entry> Places::longest(std::size_t most) const {
  std::vector<Entry> out;
  for (const auto& [shared, sum] : by_class_)
    out.push_back({sum.several ? shared : sum.entry.place, sum.entry.ns, sum.entry.count});
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace ridgeline::trace
