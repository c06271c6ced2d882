// SPDX-License-Identifier: Apache-2.0
#include "search/additive_model.hpp"

#include <cmath>
#include <optional>

namespace ridgeline::search {
namespace {

/// Solves (X'WX + ridge I) b = X'Wy by Cholesky decomposition; rows of X are lists of the columns that are one.
class RidgeFit {
 public:
  explicit RidgeFit(std::size_t columns) : size_(columns), matrix_(columns * columns), right_(columns) {
    // The constant (column 0) is left almost free, effects are drawn slightly to zero so that unknown ones stay there.
    for (std::size_t i = 0; i < size_; ++i) at(i, i) = i == 0 ? 1e-9 : 1e-3;
  }

  void add(const std::vector<std::size_t>& ones, double target, double weight) {
    for (const auto row : ones) {
      right_[row] += weight * target;
      for (const auto column : ones) at(row, column) += weight;
    }
  }

  std::vector<double> solve() {
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
      at(j, j) = std::sqrt(std::max(at(j, j), 1e-12));
      for (std::size_t i = j + 1; i < size_; ++i) {
        for (std::size_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
        at(i, j) /= at(j, j);
      }
    }
    auto solution = right_;
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) solution[i] -= at(i, k) * solution[k];
      solution[i] /= at(i, i);
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) solution[i] -= at(k, i) * solution[k];
      solution[i] /= at(i, i);
    }
    return solution;
  }

 private:
  double& at(std::size_t row, std::size_t column) { return matrix_[row * size_ + column]; }
  std::size_t size_;
  std::vector<double> matrix_;
  std::vector<double> right_;
};

/// The columns that are one for this configuration; nullopt when a value is none of the candidates.
std::optional<std::vector<std::size_t>> columns_of(const schema::Configuration& configuration,
                                                   const std::vector<Factor>& factors) {
  std::vector<std::size_t> ones{0};
  std::size_t first = 1;
  for (const auto& factor : factors) {
    const auto level = factor.level_of(configuration);
    if (!level) return std::nullopt;
    if (*level > 0) ones.push_back(first + *level - 1);
    first += factor.levels.size() - 1;
  }
  return ones;
}

}  // namespace

AdditiveModel::AdditiveModel(const std::vector<Factor>& factors, const SearchHistory& history) {
  std::size_t columns = 1;
  for (const auto& factor : factors) {
    columns += factor.levels.size() - 1;
    effects_.emplace_back(factor.levels.size(), 0.0);
    known_.emplace_back(factor.levels.size(), false);
  }
  const auto* best = history.best();
  if (best == nullptr) return;
  RidgeFit fit(columns);
  const double best_log = std::log(*best->observation.cost);
  for (const auto& seen : history.observed()) {
    if (!seen.observation.cost || !seen.in_space) continue;
    const auto ones = columns_of(seen.configuration, factors);
    if (!ones) continue;
    const double behind = std::log(*seen.observation.cost) - best_log;
    // What holds for configurations twice as slow says little about the neighbourhood of the best.
    const double weight = std::exp(-2 * std::max(behind, 0.0)) * (seen.observation.stopped_early ? 0.25 : 1.0);
    fit.add(*ones, behind, weight);
    for (std::size_t at = 0; at < factors.size(); ++at) known_[at][*factors[at].level_of(seen.configuration)] = true;
  }
  const auto solution = fit.solve();
  std::size_t column = 1;
  for (auto& levels : effects_)
    for (std::size_t level = 1; level < levels.size(); ++level) levels[level] = solution[column++];
}

}  // namespace ridgeline::search
