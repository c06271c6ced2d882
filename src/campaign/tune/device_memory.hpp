// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// Takes what earlier runs of other models taught of the run's device into TuneResult::learned. A run is no worse
/// without.
void recall_device(RunContext& context);
/// Keeps what the run measured itself for later runs on the device.
void learn_of_device(RunContext& context);

}  // namespace ridgeline::campaign
