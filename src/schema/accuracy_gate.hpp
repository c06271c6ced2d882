// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/json.hpp"

namespace ridgeline::schema {

/// By what the outputs of a PyTorch model are judged beside TuneRun::accuracy_tolerance.
struct AccuracyGate {
  /// OutputError::cosine at least; above 0 it replaces the tolerance.
  double least_cosine = 0;
  /// The tolerance of trials that ran in TF32, where it is the larger one; 0: TF32 is judged as FP32 is.
  double tf32_tolerance = 0;
  /// What the user's own metric says of the reference's outputs; where set, OutputError::metric replaces both.
  std::optional<double> reference_metric{};
  double metric_loss = 0;  ///< the share of its magnitude that a trial may lose
};
RL_DECLARE_JSON(AccuracyGate)

}  // namespace ridgeline::schema
