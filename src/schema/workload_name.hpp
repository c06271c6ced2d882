// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "schema/workload_ref.hpp"

namespace ridgeline::schema {

/// What the user names: "synthetic" and "synthetic:TEXT" are of kind synthetic, anything else is the path of an ONNX
/// file.
[[nodiscard]] WorkloadRef workload_named(std::string_view model);

}  // namespace ridgeline::schema
