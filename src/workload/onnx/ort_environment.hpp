// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "workload/onnx/ort_library.hpp"

struct OrtEnv;

namespace ridgeline::workload {

/// The loaded library with an OrtEnv that logs errors into memory instead of the terminal.
class OrtEnvironment {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<OrtEnvironment>> create(OrtLibrary library);
  OrtEnvironment(const OrtEnvironment&) = delete;
  OrtEnvironment& operator=(const OrtEnvironment&) = delete;
  ~OrtEnvironment();

  [[nodiscard]] const OrtLibrary& library() const noexcept { return library_; }
  [[nodiscard]] const OrtApi& api() const noexcept { return library_.api(); }
  [[nodiscard]] OrtEnv* env() const noexcept { return env_; }
  /// Errors the runtime logged since this environment was made, oldest first, at most 16, each shortened to one line.
  [[nodiscard]] std::vector<std::string> log_lines() const;
  /// `error` with the newest logged line added when that says something new.
  [[nodiscard]] base::Error with_log(base::Error error) const;
  /// The newest line that was logged while `call` ran, which some calls need to say why they failed; "": none.
  template <typename Call>
  [[nodiscard]] std::string logged_by(const Call& call) const {
    const auto before = log_position();
    call();
    return last_line_since(before);
  }

 private:
  static std::uint64_t log_position();
  static std::string last_line_since(std::uint64_t position);
  OrtEnvironment(OrtLibrary library, OrtEnv* env, std::uint64_t log_start)
      : library_(std::move(library)), env_(env), log_start_(log_start) {}
  OrtLibrary library_;
  OrtEnv* env_;
  std::uint64_t log_start_;
};

}  // namespace ridgeline::workload
