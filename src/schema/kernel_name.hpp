// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::schema {

/// A kernel's name without the list of parameters that it ends with: "void f<4>" of "void f<4>(int, T<1>)". Names of
/// copies stay as they are: "Memcpy HtoD (Pinned -> Device)".
[[nodiscard]] std::string_view without_parameters(std::string_view name);

/// A kernel's function without its parameters and the namespaces that every name has: what tells one from another comes
/// first.
[[nodiscard]] std::string short_kernel_name(std::string name);

}  // namespace ridgeline::schema
