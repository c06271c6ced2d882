// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/runtime_flags.hpp"

#include <filesystem>

namespace ridgeline::app {

std::string RuntimeFlags::text() const {
  if (!library.empty()) return "--ort-library " + library;
  if (!runtimes.empty()) return "--runtime " + runtimes.front();
  return plugins.empty() ? "" : "--ep-library " + plugins.front();
}

void add_runtime_flags(CLI::App& command, RuntimeFlags& flags) {
  command.add_option("--ort-library", flags.library, "ONNX Runtime to use, library file or folder")->type_name("PATH");
  command
      .add_option("--runtime", flags.runtimes,
                  "Another ONNX Runtime to consider: library, folder or virtual environment; repeatable")
      ->type_name("PATH")
      ->allow_extra_args(false);
  command
      .add_option("--ep-library", flags.plugins,
                  "Execution provider library to register, with its provider's name; repeatable")
      ->type_name("FILE[:NAME]")
      ->allow_extra_args(false);
}

base::Result<schema::RuntimeRequest> read_runtime_flags(const RuntimeFlags& flags) {
  schema::RuntimeRequest request{flags.library, flags.runtimes, {}};
  std::error_code error;
  for (const auto& text : flags.plugins) {
    auto& plugin = request.plugins.emplace_back();
    auto file = text;
    const auto colon = text.rfind(':');
    if (!std::filesystem::is_regular_file(file, error) && colon != std::string::npos) {
      file = text.substr(0, colon);
      plugin.name = text.substr(colon + 1);
    }
    if (!std::filesystem::is_regular_file(file, error))
      return base::fail(base::ErrorCode::not_found, "--ep-library {}: no file {}; expected FILE or FILE:NAME", text,
                        file)
          .hint("name the library of an execution provider, for example libonnxruntime_providers_webgpu.so");
    plugin.library_path = std::filesystem::absolute(file, error).string();
  }
  return request;
}

}  // namespace ridgeline::app
