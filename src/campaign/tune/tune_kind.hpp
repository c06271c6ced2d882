// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "execute/executor.hpp"
#include "run/kind.hpp"
#include "schema/message_renderer.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// Of trials recorded on a device (TrialSpec::device). Errors: it is not in this machine.
using MakeExecutor = std::function<base::Result<std::unique_ptr<execute::Executor>>(const std::string& device)>;

/// Runs of `ridgeline tune`; `make` is asked for what measures a trial again; `words` outlives it.
[[nodiscard]] std::unique_ptr<run::Kind> make_tune_kind(const schema::MessageRenderer& words, MakeExecutor make);

/// What the run's recommendation changes in a file of settings. Errors:
/// invalid_argument (no recommendation, or those of config::patch_settings).
[[nodiscard]] base::Result<run::Change> tune_change(const schema::TuneRun& run, std::string_view text,
                                                    const run::Target& target);

/// Names a setting of the file whose default should hold and has no spelling: it is to be removed by hand. `who` leaves
/// it at the default.
[[nodiscard]] std::string removal_text(const std::string& file, const config::FoundSetting& setting,
                                       std::string_view who);

}  // namespace ridgeline::campaign
