// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "schema/trial_spec.hpp"

namespace ridgeline::execute {

/// Variables that keep what PyTorch compiles for the spec's model in a folder under base::cache_folder(), so that a
/// comparison does not compile again what a trial compiled. The folder is of that model, interpreter and torch: the
/// first trial that compiles finds it empty, and what it takes is what users wait for. Variables that the user has set
/// are left out, all of them where the user has a folder already, none can be made, or torch compiles nothing (1.x).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> torch_cache_environment(const schema::TrialSpec& spec);

}  // namespace ridgeline::execute
