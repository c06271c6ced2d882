// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/facts.hpp"

namespace ridgeline::doctor {

/// "CPU", "CUDA", "TensorRT".
[[nodiscard]] std::string_view provider_title(std::string_view provider) noexcept;

/// Status, evidence and fix of one provider's runs, one a device; without runs it is skipped.
void judge_runs(const std::vector<const ProviderRun*>& runs, Check& check);

}  // namespace ridgeline::doctor
