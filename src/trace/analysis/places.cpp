// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/places.hpp"

#include <algorithm>

#include "schema/profile.hpp"

namespace ridgeline::trace {

void Places::add(const std::string& place, std::int64_t amount) { add(schema::module_class(place), place, amount); }

void Places::add_alone(const std::string& place, std::int64_t amount) { add(place, place, amount); }

void Places::add(const std::string& key, const std::string& place, std::int64_t amount) {
  auto& sum = by_class_.try_emplace(key, Sum{place, false, 0, 0}).first->second;
  sum.several = sum.several || sum.first != place;
  sum.amount += amount;
  ++sum.count;
}

std::vector<Places::Total> Places::largest(std::size_t most) const {
  std::vector<Total> out;
  for (const auto& [name, sum] : by_class_) out.push_back({sum.several ? name : sum.first, sum.amount, sum.count});
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.amount > b.amount; });
  if (out.size() > most) out.resize(most);
  return out;
}

std::vector<std::pair<std::string, std::int64_t>> Places::longest(std::size_t most) const {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (auto& total : largest(most)) out.emplace_back(std::move(total.place), total.amount);
  return out;
}

}  // namespace ridgeline::trace
