// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// What a config.yaml must hold so that it means the run's recommended configuration: its values where they differ from
/// the current ones, and the runtime's default, spelled out, for settings that the recommendation leaves unset.
[[nodiscard]] schema::Configuration settings_to_write(const schema::TuneRun& run);

/// Keys to be taken out of the file by hand: the recommendation leaves them unset and their default has no spelling.
[[nodiscard]] std::vector<std::string> settings_to_remove(const schema::TuneRun& run);

}  // namespace ridgeline::campaign
