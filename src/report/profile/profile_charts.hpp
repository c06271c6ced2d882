// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

// Charts of a profile; nullopt where it has nothing to show.
[[nodiscard]] std::optional<Chart> time_chart(const schema::MessageRenderer& words,
                                              const schema::ProfileRun& run);  ///< what each GPU did, one bar each
[[nodiscard]] std::optional<Chart> steps_chart(const schema::MessageRenderer& words,
                                               const schema::ProfileRun& run);  ///< duration of each step
[[nodiscard]] std::optional<Chart> bytes_chart(const schema::MessageRenderer& words,
                                               const schema::ProfileRun& run);  ///< time of modules against their bytes
[[nodiscard]] std::optional<Chart> roofline_chart(
    const schema::MessageRenderer& words,
    const schema::ProfileRun& run);  ///< nodes: FLOP/s against FLOPs a byte

}  // namespace ridgeline::report
