// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "schema/message.hpp"
#include "schema/param_def.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

/// Why this runtime, provider or model cannot take the parameter at all, even when the user asks for it; nullopt: it
/// can.
[[nodiscard]] std::optional<schema::Message> why_impossible(const schema::ParamDef& param, const SpaceInput& input);

/// The same for one of its values.
[[nodiscard]] std::optional<schema::Message> why_impossible(const schema::ParamDef& param, const schema::Value& value,
                                                            const SpaceInput& input);

/// Why trying the parameter would be a waste here; nullopt: it may matter. The user's own values overrule it.
[[nodiscard]] std::optional<schema::Message> why_pointless(const schema::ParamDef& param, const SpaceInput& input);

/// The same for one of its values.
[[nodiscard]] std::optional<schema::Message> why_pointless(const schema::ParamDef& param, const schema::Value& value,
                                                           const SpaceInput& input);

}  // namespace ridgeline::search
