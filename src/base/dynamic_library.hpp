// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::base {

/// A shared library opened at run time (RTLD_NOW | RTLD_LOCAL) and never closed: vendor libraries keep threads and
/// atexit handlers that outlive dlclose.
class DynamicLibrary {
 public:
  /// The error (unavailable) is the loader's own words.
  [[nodiscard]] static Result<DynamicLibrary> open_file(const std::string& file);

  /// Opens the first candidate that loads. The error (unavailable) lists every candidate with the loader's reason.
  [[nodiscard]] static Result<DynamicLibrary> open(const std::vector<std::string>& candidates);

  /// nullptr when absent.
  [[nodiscard]] void* symbol(const char* name) const noexcept;

  /// The file actually mapped, as the loader reports it.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  DynamicLibrary(void* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}
  void* handle_;
  std::filesystem::path path_;
};

}  // namespace ridgeline::base
