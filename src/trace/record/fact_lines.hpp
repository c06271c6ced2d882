// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/text.hpp"

namespace ridgeline::trace {

/// Lines "key=value", as recorded processes write them: `visit(key, value)`. Other lines are left out.
template <typename Visit>
void each_fact(std::string_view text, Visit visit) {
  for (const auto& line : base::split(text, '\n'))
    if (const auto equals = line.find('='); equals != std::string::npos)
      visit(std::string_view(line).substr(0, equals), std::string_view(line).substr(equals + 1));
}

}  // namespace ridgeline::trace
