// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/places.hpp"

#include <algorithm>

#include "schema/profile.hpp"

namespace ridgeline::trace {

void Places::add(const std::string& place, std::int64_t ns) {
  auto& sum = by_class_.try_emplace(schema::module_class(place), Sum{place, false, 0}).first->second;
  sum.several = sum.several || sum.first != place;
  sum.ns += ns;
}

std::vector<std::pair<std::string, std::int64_t>> Places::longest(std::size_t most) const {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const auto& [name, sum] : by_class_) out.emplace_back(sum.several ? name : sum.first, sum.ns);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace ridgeline::trace
