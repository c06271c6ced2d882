// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// Why a key of config.yaml means nothing to what the run tunes and is left alone: "of provider cuda", "unknown to ONNX
/// Runtime 1.20.1". nullopt: it counts.
[[nodiscard]] std::optional<std::string> why_left_alone(const schema::TuneRun& run, const std::string& key);

/// Errors: the first of these values that concerns what is tuned and cannot be read.
[[nodiscard]] base::Result<void> check_unread(const schema::TuneRun& run,
                                              const std::vector<config::UnreadSetting>& unread);

/// What of a configuration, a file's for example, counts to the run: not what can have no effect beside the other
/// values or is left alone, nor a batch size that the run did not search.
[[nodiscard]] schema::Configuration as_seen_by(const schema::TuneRun& run, const schema::Configuration& configuration);

/// What a config.yaml with these settings (all of them, also what the run leaves alone) has to change so that it means
/// the run's recommended configuration: other values, and the runtime's default, spelled out, for settings that the
/// recommendation leaves unset. In the order of their keys; the execution provider is not among them.
[[nodiscard]] std::vector<schema::SettingChange> changes_to(const schema::TuneRun& run,
                                                            const schema::Configuration& in_file);

/// The values that changes_to writes.
[[nodiscard]] schema::Configuration settings_to_write(const schema::TuneRun& run, const schema::Configuration& in_file);

/// The keys that changes_to leaves to be taken out by hand: the recommendation leaves them unset and their default has
/// no spelling.
[[nodiscard]] std::vector<std::string> settings_to_remove(const schema::TuneRun& run,
                                                          const schema::Configuration& in_file);

/// Sets TuneVerdict::changes by what config.yaml held when the run began.
void record_changes(schema::TuneRun& run);

}  // namespace ridgeline::campaign
