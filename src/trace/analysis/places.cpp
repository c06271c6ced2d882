// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/places.hpp"

#include <algorithm>

#include "schema/profile.hpp"
#include "trace/analysis/range_names.hpp"

namespace ridgeline::trace {

void Places::add(const std::string& place, std::int64_t amount) {
  add(is_python_line(place) ? place : schema::module_class(place), place, amount);
}

void Places::add_alone(const std::string& place, std::int64_t amount) { add(place, place, amount); }

void Places::add(const std::string& key, const std::string& place, std::int64_t amount) {
  auto& sum = by_class_.try_emplace(key, Sum{{place, 0, 0}, false}).first->second;
  sum.several = sum.several || sum.entry.place != place;
  sum.entry.amount += amount;
  ++sum.entry.count;
}

std::vector<Places::Entry> Places::largest(std::size_t most) const {
  std::vector<Entry> out;
  for (const auto& [shared, sum] : by_class_)
    out.push_back({sum.several ? shared : sum.entry.place, sum.entry.amount, sum.entry.count});
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.amount > b.amount; });
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace ridgeline::trace
