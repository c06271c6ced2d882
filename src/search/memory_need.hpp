// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "schema/configuration.hpp"

namespace ridgeline::search {

/// Whether `a` surely needs as much memory as `b` or more: a larger batch, more sessions, a captured graph beside, or a
/// tighter memory limit, and all else equal. False when that is unknown.
[[nodiscard]] bool needs_no_less_memory(const schema::Configuration& a, const schema::Configuration& b);

/// The first setting that makes it so, in the order batch, sessions, limit, graph; "" when they are the same.
[[nodiscard]] std::string hungrier_setting(const schema::Configuration& a, const schema::Configuration& b);

}  // namespace ridgeline::search
