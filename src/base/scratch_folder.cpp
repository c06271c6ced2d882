// SPDX-License-Identifier: Apache-2.0
#include "base/scratch_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace ridgeline::base {

ScratchFolder::ScratchFolder(std::string_view purpose) {
  std::error_code error;
  auto pattern = (std::filesystem::temp_directory_path(error) / fmt::format("ridgeline-{}-XXXXXX", purpose)).string();
  if (!error && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ridgeline::base
