// SPDX-License-Identifier: Apache-2.0
#include "schema/accuracy_gate.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(AccuracyGate, least_cosine, tf32_tolerance, reference_metric, metric_loss)

}  // namespace ridgeline::schema
