// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "host/system_files.hpp"
#include "schema/trial_spec.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_search.hpp"

struct OrtEpDevice;

namespace ridgeline::workload {

/// What a session of a plug-in is made for.
struct PluginDevice {
  const OrtEpDevice* device = nullptr;  ///< the runtime's own
  OrtEnv* env = nullptr;
  schema::ProviderPlugin plugin;  ///< library_sha256 is left empty
};

/// Registers a library of providers with the process's OrtEnv, once and for the life of the process: the devices stay
/// valid. Virtual devices, which only compile, are left out. Errors: unsupported before ONNX Runtime 1.23; unavailable
/// naming the library that is missing, or with the runtime's words when it refuses the plug-in.
[[nodiscard]] base::Result<std::vector<PluginDevice>> plugin_devices(const OrtEnvironment& environment,
                                                                     const std::string& library,
                                                                     const OrtSearchEnvironment& search);

/// The device that a trial is for. Errors: as above; unavailable when the library does not offer it here.
[[nodiscard]] base::Result<PluginDevice> plugin_device(const OrtEnvironment& environment,
                                                       const schema::ProviderPlugin& wanted,
                                                       const OrtSearchEnvironment& search);

/// Fills in what each library offers on this machine, or why it offers nothing.
void ask_plugins(const OrtEnvironment& environment, std::vector<schema::PluginLibrary>& plugins,
                 const OrtSearchEnvironment& search);

/// Why a library that was registered well offers no device on this machine.
[[nodiscard]] schema::ProviderNote no_device_note(const std::filesystem::path& library,
                                                  const host::SystemFiles& system);

}  // namespace ridgeline::workload
