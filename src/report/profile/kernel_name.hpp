// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ridgeline::report {

/// A kernel's function without its parameters and the namespaces that every name has: what tells one from another comes
/// first.
[[nodiscard]] std::string short_kernel_name(std::string name);

}  // namespace ridgeline::report
