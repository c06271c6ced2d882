// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/checked_program.hpp"

#include "base/file.hpp"

namespace ridgeline::app {

base::Result<void> check_program(const std::string& name) {
  if (!base::find_program(name).empty()) return {};
  const bool by_path = name.find('/') != std::string::npos;
  return base::fail(base::ErrorCode::not_found, "program {}: {}", name,
                    by_path ? "no such file, or it may not be executed" : "not found in PATH")
      .hint("{}", by_path ? "check its path and permissions" : "check its spelling, or give its path");
}

}  // namespace ridgeline::app
