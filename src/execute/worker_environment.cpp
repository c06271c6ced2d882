// SPDX-License-Identifier: Apache-2.0
#include "execute/worker_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ridgeline::execute {

std::vector<std::string> ignored_variables() {
  std::vector<std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (variable.rfind("ORT_TENSORRT_", 0) == 0 || variable.rfind("ORT_OPENVINO_", 0) == 0)
      found.emplace_back(variable);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void clean_worker_environment() {
  for (const auto& variable : ignored_variables()) ::unsetenv(variable.substr(0, variable.find('=')).c_str());
}

}  // namespace ridgeline::execute
