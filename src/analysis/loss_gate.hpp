// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schema/training_measurement.hpp"

namespace ridgeline::analysis {

/// Relative difference of two curves that rounding in another order makes, in FP32 and in shorter formats (bf16, TF32).
constexpr double kFp32Rounding = 0.002;
constexpr double kShortRounding = 0.01;

/// The losses of a trial's first steps.
struct LossCurve {
  std::vector<double> losses;
  std::optional<std::int64_t> lost_at_step;  ///< where a loss was no finite number
};

/// Of an ended trial; nullopt where it recorded none. With `passes` backward passes per step of the optimizer, each
/// loss is the mean of as many.
[[nodiscard]] std::optional<LossCurve> loss_curve(const schema::TrainingMeasurement& measurement, int passes = 1);

struct LossComparison {
  enum class Verdict {
    same,          ///< within what trials of the same settings differ by
    differs,       ///< further apart
    lost,          ///< a loss is not finite, and without the change it is
    lost_without,  ///< a loss is not finite without the change
    unknown,       ///< too few losses
  };
  Verdict verdict = Verdict::unknown;
  double difference =
      0;               ///< mean distance of the curves as a share of the mean loss, of the pair that is furthest apart
  double allowed = 0;  ///< by trials of the same settings, at least by rounding
  std::int64_t steps = 0;                    ///< that were compared
  std::optional<std::int64_t> lost_at_step;  ///< with the change, earliest of its curves; set where it is lost
};

/// Compares the curves with a change to those without it. The nth of each begin with the same random numbers; those of
/// one list differ in what is drawn after the first step, so their distance is what equal trainings differ by. Those of
/// the longer list that have no counterpart are left out.
/// `rounding`: what is allowed at least.
[[nodiscard]] LossComparison compare_losses(const std::vector<LossCurve>& without, const std::vector<LossCurve>& with,
                                            double rounding);

}  // namespace ridgeline::analysis
