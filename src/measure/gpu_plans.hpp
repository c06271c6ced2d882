// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/gpu_telemetry.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::measure {

/// A timed window in which the energy counter surely has moved often enough.
inline constexpr double kEnergyWindowS = 1.2 * schema::GpuTelemetry::kLeastEnergyWindowS;

/// Shortens what is at its default in plans for a GPU, whose inferences are short and even, and where no thread of
/// another arm keeps spinning: shorter blocks tell as much.
void apply_gpu_defaults(schema::MeasurementPlan& plan, schema::PairedPlan& paired) noexcept;

}  // namespace ridgeline::measure
