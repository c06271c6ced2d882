// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// Markdown or HTML by the renderers: where the time went, findings, the timeline, modules, kernels or nodes, steps,
/// idle time, memory. `timeline`: what trace::page_timeline makes of the events, "" where no page is made; nullopt: the
/// events are not there, and the report says so. `kernel`: part of the name of one to show in detail; "": none.
[[nodiscard]] ReportModel build_profile_report(const schema::MessageRenderer& words, const schema::ProfileRun& run,
                                               const std::optional<std::string>& timeline = std::nullopt,
                                               const std::string& kernel = {});

/// Raised when a field is renamed, removed or changes its meaning.
inline constexpr int kProfileJsonVersion = 2;

/// schema::ProfileRun as JSON, with "schema_version".
[[nodiscard]] base::Json profile_json(const schema::MessageRenderer& words, const schema::ProfileRun& run);

/// What was read and the main figures, for a terminal: a label ("" belongs to the one before) and a text.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> profile_summary(const schema::MessageRenderer& words,
                                                                               const schema::ProfileRun& run);

/// A finding for a terminal: its title and saving, then lines of evidence, how it was computed and what to write.
struct FindingText {
  std::string title;
  std::vector<std::string> lines;
  std::string snippet;
};
[[nodiscard]] FindingText finding_text(const schema::MessageRenderer& words, const schema::ProfileFinding& finding);

}  // namespace ridgeline::report
