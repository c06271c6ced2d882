// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "doctor/facts.hpp"

namespace ridgeline::doctor {

/// `folders`: {purpose, path}; a path that does not exist yet stands for its nearest parent. `root` holds sys and dev.
[[nodiscard]] MachineFacts read_machine_facts(
    schema::Environment environment, const std::vector<std::pair<schema::Message, std::filesystem::path>>& folders,
    const std::filesystem::path& root = "/");

}  // namespace ridgeline::doctor
