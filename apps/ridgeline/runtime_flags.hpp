// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "schema/found_runtime.hpp"

namespace ridgeline::app {

/// Where ONNX Runtime and libraries of providers are.
struct RuntimeFlags {
  std::string library;
  std::vector<std::string> runtimes;
  std::vector<std::string> plugins;

  /// The flags as they were given, or "".
  [[nodiscard]] std::string text() const;
};

void add_runtime_flags(CLI::App& command, RuntimeFlags& flags);

/// Errors (not_found): a file of --ep-library that is not there.
[[nodiscard]] base::Result<schema::RuntimeRequest> read_runtime_flags(const RuntimeFlags& flags);

}  // namespace ridgeline::app
