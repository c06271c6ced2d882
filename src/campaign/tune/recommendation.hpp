// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// What of a configuration, a file's for example, counts to the run: not what can have no effect beside the other
/// values or under the run's provider, nor a batch size that the run did not search.
[[nodiscard]] schema::Configuration as_seen_by(const schema::TuneRun& run, const schema::Configuration& configuration);

/// What a config.yaml that means `current` must hold so that it means the run's recommended configuration: its values
/// where they differ, and the runtime's default, spelled out, for settings that the recommendation leaves unset.
[[nodiscard]] schema::Configuration settings_to_write(const schema::TuneRun& run, const schema::Configuration& current);

/// Keys to be taken out of such a file by hand: the recommendation leaves them unset and their default has no spelling.
[[nodiscard]] std::vector<std::string> settings_to_remove(const schema::TuneRun& run,
                                                          const schema::Configuration& current);

}  // namespace ridgeline::campaign
