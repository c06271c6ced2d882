// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// How many CPUs of the run's machine a configuration keeps busy: its threads times its sessions, at most the usable
/// ones.
[[nodiscard]] double busy_cpus(const schema::TuneRun& run, const schema::Configuration& configuration);

}  // namespace ridgeline::campaign
