// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "campaign/bench/bench_campaign.hpp"

namespace ridgeline::campaign {

/// Notes on a run that has its answers: flags of trials that are about the training, losses that are not finite, calls
/// of the step that read tensors on the host, what another batch means for a script's learning rate.
[[nodiscard]] std::vector<schema::Message> closing_notes(const schema::BenchRun& run, const BenchRequest& request);

}  // namespace ridgeline::campaign
