// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::workload {

using ProviderOptions = std::vector<std::pair<std::string, std::string>>;

/// Some options are properties in the JSON text of another one: "load_config.NUM_STREAMS" is the property NUM_STREAMS
/// of `device` in load_config. Writes them there, over what the text has, and keeps the others. Errors:
/// invalid_argument for a text that is no JSON object.
[[nodiscard]] base::Result<ProviderOptions> fold_properties(const ProviderOptions& options, const std::string& device);

/// The device that properties of these options are for: "GPU" of device_type "GPU.1", "AUTO" of "AUTO:GPU,CPU"; "CPU"
/// without one.
[[nodiscard]] std::string property_device(const ProviderOptions& options);

/// The other way: of the texts that are JSON objects also the properties of `device`, by name.
void unfold_properties(std::map<std::string, std::string>& options, const std::string& device);

}  // namespace ridgeline::workload
