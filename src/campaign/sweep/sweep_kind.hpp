// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "execute/calls.hpp"
#include "run/kind.hpp"
#include "schema/message_renderer.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::campaign {

using MakeSweepExecutor = std::function<std::unique_ptr<execute::Executor>()>;

/// Runs of `ridgeline sweep`; `make` is asked for what runs a combination again.
[[nodiscard]] std::unique_ptr<run::Kind> make_sweep_kind(const schema::MessageRenderer& words, MakeSweepExecutor make);

/// The run; one that was killed or is still under way with what its trials tell so far.
[[nodiscard]] base::Result<schema::SweepRun> sweep_so_far(const schema::Run& stored);

/// What the run's recommendation changes in the user's file; `paths` says where parameters stand under another name.
/// Errors: invalid_argument (no recommendation, a path of no parameter, or those of patch_sweep_settings).
[[nodiscard]] base::Result<run::Change> sweep_change(const schema::SweepRun& run, std::string_view text,
                                                     const std::string& file,
                                                     const std::map<std::string, std::string>& paths);

}  // namespace ridgeline::campaign
