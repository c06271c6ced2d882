// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "workload/training/plugin_abi.h"

namespace ridgeline::workload {

/// Files that may be the training plugin, in the order in which they are tried: `named` alone when it is not empty,
/// else RIDGELINE_TORCH_PLUGIN alone when that is set, else ridgeline_torch.so in the user's data folder
/// (~/.local/share/ridgeline/plugins), beside the program (../lib) and in its build folder. Errors, with the script
/// that builds one: not_found (a named one that is not there), unavailable (none is named, and there is none).
[[nodiscard]] base::Result<std::vector<std::filesystem::path>> find_torch_plugins(const std::string& named);

/// The training plugin, opened. It brings LibTorch along, so this is for worker processes only.
class PluginLibrary {
 public:
  /// Opens the first that loads and serves our version of the interface. Errors, one line with what to do: unavailable
  /// (a library that it needs is missing or of another version, another interface).
  [[nodiscard]] static base::Result<PluginLibrary> open(const std::vector<std::filesystem::path>& candidates);

  [[nodiscard]] const rl_train_api& api() const noexcept { return *api_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// "torch 2.11.0+cu130, cuda", "torch 1.13.1, cpu"
  [[nodiscard]] std::string runtime() const;
  /// LibTorch was built for CUDA and sees a GPU.
  [[nodiscard]] bool has_cuda() const noexcept { return api_->cuda_devices() > 0; }
  /// While no trial is alive: gives back what the device's allocator keeps. False: this plugin or its torch cannot.
  [[nodiscard]] bool release_memory() const noexcept;

 private:
  PluginLibrary(const rl_train_api* api, std::filesystem::path path) : api_(api), path_(std::move(path)) {}
  const rl_train_api* api_;
  std::filesystem::path path_;
};

}  // namespace ridgeline::workload
