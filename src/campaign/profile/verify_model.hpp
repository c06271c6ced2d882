// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "campaign/budget.hpp"
#include "campaign/profile/verifiable_change.hpp"
#include "execute/executor.hpp"
#include "schema/profile.hpp"

namespace ridgeline::campaign {

/// Compares a model with a setting and without it, in a fresh process, as `tune` compares its finalists. Errors: those
/// of the model and the runtime; cancelled.
[[nodiscard]] base::Result<schema::ProfileVerification> verify_model(const schema::ProfileModelRequest& model,
                                                                     const ModelChange& change,
                                                                     execute::Executor& executor, const Budget& budget);

}  // namespace ridgeline::campaign
