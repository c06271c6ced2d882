// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

// The memory of a profile, for terminals and reports alike.

[[nodiscard]] Table memory_table(const schema::ProfileRun& run);   ///< a row for each GPU
[[nodiscard]] Table holders_table(const schema::ProfileRun& run);  ///< what holds it at the peak
/// Allocated and reserved over time; nullopt where nothing was recorded.
[[nodiscard]] std::optional<Chart> memory_chart(const schema::MessageRenderer& words, const schema::ProfileRun& run);
/// Allocations that failed, and what the allocator keeps for nobody where that is much; plain text, a line each.
[[nodiscard]] std::vector<schema::Message> memory_notes(const schema::ProfileRun& run);
/// All of them; without blocks where nothing was recorded.
[[nodiscard]] Section memory_section(const schema::MessageRenderer& words, const schema::ProfileRun& run);

/// Memory is all that the profile is of.
[[nodiscard]] bool is_memory_only(const schema::ProfileRun& run);
/// Whether a run knows only what the host did, of no GPU and no model's nodes.
[[nodiscard]] bool is_host_only(const schema::ProfileRun& run);

}  // namespace ridgeline::report
