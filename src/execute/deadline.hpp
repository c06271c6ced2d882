// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "schema/trial_spec.hpp"

namespace ridgeline::execute {

/// The longest a trial may take when nobody said, in seconds: an allowance for loading and session creation (half
/// an hour where TensorRT builds engines, a quarter of one where calls are compiled), the plan's budgets twice over (a
/// budget ends with the inference in which it passes), and verification. A fixed number of runs has no budget: an hour,
/// and the stall limit watches.
[[nodiscard]] double derived_deadline_s(const schema::MeasurementPlan& plan, std::string_view provider);
[[nodiscard]] double derived_deadline_s(const schema::PairedPlan& plan, std::string_view provider);

}  // namespace ridgeline::execute
