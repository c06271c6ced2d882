// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/python_packages.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/file.hpp"

namespace ridgeline::app {

base::Result<std::string> python_packages() {
  std::vector<std::filesystem::path> places;
  if (const char* set = std::getenv("RIDGELINE_PYTHON_FOLDER"); set != nullptr && *set != '\0')
    places.emplace_back(set);
  places.push_back(base::executable_path().parent_path().parent_path() / "share/ridgeline/python");
  places.emplace_back(RIDGELINE_SOURCE_PYTHON);
  std::error_code ignored;
  for (const auto& place : places)
    if (std::filesystem::exists(place / "ridgeline_train/__main__.py", ignored)) return place.string();
  return base::fail(base::ErrorCode::not_found, "the Python package ridgeline_train is not at {}",
                    places.front().string())
      .hint("install Ridgeline again, or set RIDGELINE_PYTHON_FOLDER");
}

}  // namespace ridgeline::app
