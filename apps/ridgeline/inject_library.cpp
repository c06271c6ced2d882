// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/inject_library.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"

namespace ridgeline::app {
namespace {

constexpr const char* kFile = "libridgeline_inject.so";
constexpr const char* kVariable = "RIDGELINE_INJECT_LIBRARY";

}  // namespace

base::Result<std::string> find_inject_library() {
  std::error_code ignored;
  if (const char* set = std::getenv(kVariable); set != nullptr && *set != '\0') {
    if (std::filesystem::is_regular_file(set, ignored)) return std::filesystem::absolute(set).string();
    return base::fail(base::ErrorCode::not_found, "{} {}: no such file", kVariable, set)
        .hint("name {}, or unset {}", kFile, kVariable);
  }
  const auto folder = base::executable_path().parent_path().parent_path() / "lib";
  if (std::filesystem::is_regular_file(folder / kFile, ignored)) return (folder / kFile).string();
  return base::fail(base::ErrorCode::not_found, "{} is not in {}", kFile, folder.string())
      .hint("install Ridgeline again, or set {}", kVariable);
}

}  // namespace ridgeline::app
