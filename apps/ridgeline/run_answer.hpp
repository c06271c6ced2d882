// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "store/store.hpp"

namespace ridgeline::app {

/// The answer of a stored run in a few words: "1.94x as fast", "not finished".
[[nodiscard]] std::string answer_text(const schema::RunSummary& run);

}  // namespace ridgeline::app
