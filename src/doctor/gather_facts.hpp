// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/facts.hpp"
#include "doctor/gather/library_facts.hpp"
#include "doctor/gather/provider_runs.hpp"

namespace ridgeline::doctor {

/// All that the facts are gathered with.
struct Sources {
  schema::Environment environment;  ///< its GPUs are those that may be used
  workload::OrtSearchEnvironment search;
  schema::RuntimeRequest where;                ///< what the flags say of runtimes
  std::string model;                           ///< --model, or ""
  bool load = true;                            ///< false: nothing is run on a GPU or with a model
  std::optional<std::string> visible_devices;  ///< CUDA_VISIBLE_DEVICES
  std::vector<std::pair<schema::Message, std::filesystem::path>> folders;  ///< {purpose, path} to look at
  MakeExecutor make_executor;
  LibraryOpener open_library;
  base::Result<std::string> inject_library;  ///< the recorder of `profile -- COMMAND`
  std::function<void(std::string_view doing)> on_progress = [](std::string_view) {};
};

/// Looks at the machine. Never fails: what cannot be found out is a fact as well. Takes a few seconds, most of them in
/// workers; this process loads nothing of CUDA or ONNX Runtime.
[[nodiscard]] Facts gather_facts(const Sources& sources);

}  // namespace ridgeline::doctor
