// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// The module tree as an icicle; nullopt where the profile has no modules. Of more than 5000 rows the shortest become
/// part of the rows above them.
[[nodiscard]] std::optional<Icicle> module_icicle(const schema::MessageRenderer& words, const schema::ProfileRun& run);

}  // namespace ridgeline::report
