// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/facts.hpp"

namespace ridgeline::doctor {

/// Status, evidence and fix of one provider's runs, one a device; without runs it is skipped. `other_answers`: the
/// verdict on answers that differ from the CPU's by more than rounding does in a small network.
void judge_runs(const std::vector<const ProviderRun*>& runs, CheckStatus other_answers, Check& check);

}  // namespace ridgeline::doctor
