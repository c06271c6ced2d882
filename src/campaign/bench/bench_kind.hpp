// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "execute/calls.hpp"
#include "run/kind.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::campaign {

/// What runs a stored trial. Errors: what it needs is not there (an interpreter, the LibTorch plugin, its GPU).
using MakeTrainingExecutor =
    std::function<base::Result<std::unique_ptr<execute::Executor>>(const schema::TrainingTrialSpec& spec)>;

/// Runs of `ridgeline bench`; `make` is asked for what measures a trial again; `words` outlives it.
[[nodiscard]] std::unique_ptr<run::Kind> make_bench_kind(const schema::MessageRenderer& words,
                                                         MakeTrainingExecutor make);

}  // namespace ridgeline::campaign
