// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/results_file.hpp"

namespace ridgeline::app {

base::Result<std::filesystem::path> existing_results(const Context& context) {
  auto path = context.database_path();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return base::fail(base::ErrorCode::not_found, "results file {}: no such file", path.string())
        .hint("name the one that the run was kept in with --db FILE");
  return path;
}

}  // namespace ridgeline::app
