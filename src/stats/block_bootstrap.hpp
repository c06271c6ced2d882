// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/random.hpp"

namespace ridgeline::stats {

/// A run cut into blocks of equal sample count in time order; a resample draws whole blocks with replacement, so that
/// slow drift within the run counts in full (Kuensch, Annals of Statistics 17, 1989). The samples are sorted once into
/// at most 1000 bins of equal count, so that a resample costs the same however long the run was.
class BlockBootstrap {
 public:
  /// Long enough to hold seconds of drift inside a block of a typical run.
  static constexpr std::size_t kMostBlocks = 10;

  /// `samples` in order of time, at least one. `q`: the quantile that is the cost; nullopt: the mean.
  BlockBootstrap(const std::vector<double>& samples, std::optional<double> q);

  [[nodiscard]] std::size_t blocks() const noexcept { return blocks_; }

  /// Standard deviation of the log cost over 300 resamples. Needs two blocks.
  [[nodiscard]] double log_error(base::Random& random) const;

 private:
  struct Bin {
    double value;
    std::vector<double> counts;  ///< by block
  };

  [[nodiscard]] double cost(const std::vector<double>& weight) const;

  std::optional<double> q_;
  std::size_t blocks_;
  std::vector<double> sums_;
  std::vector<double> counts_;
  std::vector<Bin> bins_;
};

}  // namespace ridgeline::stats
