// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::report {

/// "3 of 8 trials failed, most often: OOM". `causes`: one line per failed trial; none: nullopt.
[[nodiscard]] std::optional<Paragraph> failed_trials(const schema::MessageRenderer& words,
                                                     const std::vector<std::string>& causes, std::size_t trials);

}  // namespace ridgeline::report
