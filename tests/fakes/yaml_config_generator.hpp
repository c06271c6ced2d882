// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ridgeline::fakes {

struct GeneratedConfig {
  std::string name;  ///< "compose-17"
  std::string text;
};

/// A configuration file such as people keep for containers, training, robots or CI, in a style of its own: indentation,
/// newlines, quoting, comments, flow and block collections, anchors, block scalars, several documents, non-ASCII text.
/// Most hold one to four ONNX Runtime settings somewhere. The same seed gives the same bytes everywhere.
[[nodiscard]] GeneratedConfig generate_yaml_config(std::uint64_t seed);

}  // namespace ridgeline::fakes
