// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

/// Spaces that --space knows by name, in alphabetical order.
[[nodiscard]] std::vector<std::string> named_spaces();

/// input.request with the space that it names written out; what the user pinned stays pinned. A request without a name
/// is returned as it is. Errors: an unknown name (all names are listed), or a space that this provider or GPU cannot
/// have.
[[nodiscard]] base::Result<SpaceRequest> resolve_named_space(const SpaceInput& input);

}  // namespace ridgeline::search
