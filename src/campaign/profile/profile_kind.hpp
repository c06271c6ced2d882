// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "run/kind.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::campaign {

/// Runs of `ridgeline profile`. `words` outlives them.
[[nodiscard]] std::unique_ptr<run::Kind> make_profile_kind(const schema::MessageRenderer& words);

}  // namespace ridgeline::campaign
