// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "run/kind.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// Runs of `ridgeline tune`.
[[nodiscard]] std::unique_ptr<run::Kind> make_tune_kind();

/// What the run's recommendation changes in a file of settings. Errors:
/// invalid_argument (no recommendation, or those of config::patch_settings).
[[nodiscard]] base::Result<run::Change> tune_change(const schema::TuneRun& run, std::string_view text,
                                                    const run::Target& target);

/// Names a setting of the file whose default should hold and has no spelling: it is to be removed by hand. `who` leaves
/// it at the default.
[[nodiscard]] std::string removal_text(const std::string& file, const config::FoundSetting& setting,
                                       std::string_view who);

}  // namespace ridgeline::campaign
