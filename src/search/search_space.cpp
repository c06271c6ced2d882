// SPDX-License-Identifier: Apache-2.0
#include "search/search_space.hpp"

#include <algorithm>

#include "search/relevance.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::Dimension;

/// Depth-first walk over the product that never enters a branch whose setting would be dropped again, so that each
/// canonical configuration is met exactly once.
class Walk {
 public:
  Walk(const SearchSpace& space, const std::vector<SpaceRule>& rules, std::size_t limit)
      : space_(space), rules_(rules), limit_(limit), partial_(space.fixed()), has_fixed_(!space.fixed().empty()) {
    for (const auto& dimension : space.dimensions()) order_.push_back(&dimension);
    std::stable_partition(order_.begin(), order_.end(),
                          [](const Dimension* dimension) { return decides_relevance(dimension->key); });
  }

  std::vector<Configuration> run() {
    visit(0);
    return std::move(found_);
  }

 private:
  void visit(std::size_t depth) {
    if (found_.size() >= limit_) return;
    if (depth == order_.size()) {
      add_leaf();
      return;
    }
    const auto& dimension = *order_[depth];
    if (space_.may_be_unset(dimension.key)) visit(depth + 1);
    for (const auto& value : dimension.values) {
      partial_.set(dimension.key, value);
      if (decides_relevance(dimension.key) || is_relevant(dimension.key, partial_)) visit(depth + 1);
    }
    partial_.unset(dimension.key);
  }

  /// Searched settings must all have survived; only a fixed one may turn out irrelevant and be dropped.
  void add_leaf() {
    for (const auto* dimension : order_)
      if (partial_.contains(dimension->key) && !is_relevant(dimension->key, partial_)) return;
    auto configuration = has_fixed_ ? simplify(partial_) : partial_;
    for (const auto& rule : rules_)
      if (!rule.allows(configuration)) return;
    found_.push_back(std::move(configuration));
  }

  const SearchSpace& space_;
  const std::vector<SpaceRule>& rules_;
  std::size_t limit_;
  Configuration partial_;
  bool has_fixed_;
  std::vector<const Dimension*> order_;
  std::vector<Configuration> found_;
};

}  // namespace

SearchSpace::SearchSpace(std::vector<Dimension> dimensions, Configuration fixed, std::vector<SpaceRule> rules,
                         std::vector<std::string> always_set)
    : fixed_(std::move(fixed)), rules_(std::move(rules)), always_set_(std::move(always_set)) {
  for (auto& dimension : dimensions) {
    if (fixed_.contains(dimension.key)) continue;
    Dimension kept{dimension.key, {}};
    for (auto& value : dimension.values)
      if (!is_default(dimension.key, value) &&
          std::find(kept.values.begin(), kept.values.end(), value) == kept.values.end())
        kept.values.push_back(std::move(value));
    if (!kept.values.empty()) dimensions_.push_back(std::move(kept));
  }
}

double SearchSpace::raw_size() const noexcept {
  double size = 1;
  for (const auto& dimension : dimensions_)
    size *= (may_be_unset(dimension.key) ? 1 : 0) + static_cast<double>(dimension.values.size());
  return size;
}

const Dimension* SearchSpace::dimension(const std::string& key) const {
  const auto at = std::find_if(dimensions_.begin(), dimensions_.end(),
                               [&](const Dimension& dimension) { return dimension.key == key; });
  return at == dimensions_.end() ? nullptr : &*at;
}

bool SearchSpace::may_be_unset(const std::string& key) const {
  return std::find(always_set_.begin(), always_set_.end(), key) == always_set_.end();
}

bool SearchSpace::allows(const Configuration& configuration) const {
  const auto form = canonical(configuration);
  for (const auto& key : always_set_)
    if (!form.contains(key)) return false;
  if (!fixed_.empty() && form != simplify(configuration)) return false;
  return std::all_of(rules_.begin(), rules_.end(), [&](const SpaceRule& rule) { return rule.allows(form); });
}

bool SearchSpace::covers(const Configuration& configuration) const {
  for (const auto& [key, value] : configuration.values())
    if (!fixed_.contains(key) && dimension(key) == nullptr) return false;
  return allows(configuration);
}

Configuration SearchSpace::canonical(const Configuration& configuration) const {
  return simplify(configuration.merged(fixed_));
}

std::vector<Configuration> SearchSpace::enumerate(std::size_t limit) const { return Walk(*this, rules_, limit).run(); }

Configuration SearchSpace::sample(base::Random& random) const {
  constexpr int kDraws = 1000;
  for (int draw = 0; draw < kDraws; ++draw) {
    Configuration drawn;
    for (const auto& dimension : dimensions_) {
      const std::size_t unset = may_be_unset(dimension.key) ? 1 : 0;
      const auto pick = random.below(dimension.values.size() + unset);
      if (pick >= unset) drawn.set(dimension.key, dimension.values[pick - unset]);
    }
    auto form = canonical(drawn);
    if (allows(form)) return form;
  }
  return defaults();
}

}  // namespace ridgeline::search
