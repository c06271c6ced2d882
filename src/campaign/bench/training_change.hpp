// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/varied_settings.hpp"
#include "campaign/bench/bench_config.hpp"
#include "run/kind.hpp"
#include "schema/message_renderer.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::campaign {

/// The names under which BenchRun::origins keeps what the training now uses.
inline constexpr std::string_view kRateOrigin = "learning rate";
inline constexpr std::string_view kAccumulationOrigin = "accumulation";

/// What the recommended batch means for the training in the file, as it stands there; nullopt: the batch does not
/// change, or there is no recommendation.
[[nodiscard]] base::Result<std::optional<BatchAdvice>> batch_advice(const schema::BenchRun& run, std::string_view text,
                                                                    const std::string& file);

/// Whether the file has any of the settings that the patch writes: one that has none is no training's file.
[[nodiscard]] bool has_training_settings(const config::PatchResult& patch) noexcept;

/// patch_training_settings of a file that is a training's. Errors as there, and invalid_argument: it has neither the
/// settings nor a section for them, so that new keys would be read by nobody.
[[nodiscard]] base::Result<config::PatchResult> patch_training_file(std::string_view text, const std::string& file,
                                                                    const schema::TrainingSettings& settings,
                                                                    const analysis::VariedSettings& varied = {});

/// What the run's recommendation changes in a training's file. Errors: invalid_argument (no recommendation, or those of
/// patch_training_file).
[[nodiscard]] base::Result<run::Change> training_change(const schema::MessageRenderer& words,
                                                        const schema::BenchRun& run, std::string_view text,
                                                        const std::string& file);

}  // namespace ridgeline::campaign
