// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// Answers from the results file where the newest run that was asked the same of the same model, on the same device
/// with the same runtime, came to an answer: its trials, comparisons and verdict become this run's, and nothing is
/// measured. Where that run ended before its search did, or what it rests on is not stored or need not fail again, a
/// note says why this one measures. False: it has to. Errors: the store's.
[[nodiscard]] base::Result<bool> take_earlier_answer(RunContext& context);

}  // namespace ridgeline::campaign
