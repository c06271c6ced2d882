// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/dynamic_library.hpp"
#include "base/error.hpp"
#include "schema/trial_spec.hpp"
#include "workload/onnx/ort_search.hpp"

struct OrtApi;

namespace ridgeline::workload {

/// ONNX Runtime, opened at run time through its C API. Stays loaded until the process ends.
class OrtLibrary {
 public:
  /// Opens `library`, a file or a folder; "": the first of find_runtimes that loads and is new enough (1.17). The error
  /// (unavailable, not_found) says on one line where it looked and what was wrong in each place.
  [[nodiscard]] static base::Result<OrtLibrary> open(const std::string& library,
                                                     const OrtSearchEnvironment& environment);

  [[nodiscard]] const OrtApi& api() const noexcept { return *api_; }
  /// The API table's number; functions of later numbers must not be called.
  [[nodiscard]] int api_version() const noexcept { return api_version_; }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return library_.path(); }
  /// "CPUExecutionProvider", ..., as this build offers them.
  [[nodiscard]] base::Result<std::vector<std::string>> providers() const;

  /// All of it with the file's SHA-256. Where the build has providers in files of their own, their libraries are opened
  /// and listed with their versions; a provider that cannot be used only gets a note.
  [[nodiscard]] base::Result<schema::RuntimeIdentity> identity(const OrtSearchEnvironment& environment) const;

 private:
  OrtLibrary(base::DynamicLibrary library, const OrtApi* api, int api_version, std::string version)
      : library_(std::move(library)), api_(api), api_version_(api_version), version_(std::move(version)) {}
  static base::Result<OrtLibrary> open_file(const std::string& file);

  base::DynamicLibrary library_;
  const OrtApi* api_;
  int api_version_;
  std::string version_;
};

}  // namespace ridgeline::workload
