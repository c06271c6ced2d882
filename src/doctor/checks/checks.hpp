// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "doctor/check.hpp"
#include "doctor/facts.hpp"

// Pure judgements: facts in, checks out, in the order in which they are shown. One file a group.
namespace ridgeline::doctor {

[[nodiscard]] std::vector<Check> check_driver(const Facts& facts);
[[nodiscard]] std::vector<Check> check_libraries(const Facts& facts);
[[nodiscard]] std::vector<Check> check_inference(const Facts& facts);
/// Errors, settings and processes.
[[nodiscard]] std::vector<Check> check_gpus(const Facts& facts);
/// What the GPUs did under load.
[[nodiscard]] std::vector<Check> check_gpu_load(const Facts& facts);
[[nodiscard]] std::vector<Check> check_machine(const Facts& facts);
[[nodiscard]] std::vector<Check> check_python(const Facts& facts);
/// What `profile -- COMMAND` needs.
[[nodiscard]] std::vector<Check> check_recording(const Facts& facts);
[[nodiscard]] std::vector<Check> check_model(const Facts& facts);

/// All of them.
[[nodiscard]] std::vector<Check> judge(const Facts& facts);

}  // namespace ridgeline::doctor
