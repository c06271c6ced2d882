// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "report/report_model.hpp"
#include "schema/message.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// "range profiler".
[[nodiscard]] schema::Message bytes_source_name(schema::BytesSource source);

/// Where the bytes of a profile come from and how much of it they cover, a line each; empty: it has none, or its run
/// was stored before sources were kept.
[[nodiscard]] std::vector<schema::Message> bytes_notes(const schema::ProfileRun& run);

/// CUDA graphs that were counted as a whole, per launch.
[[nodiscard]] Table graphs_table(const schema::MessageRenderer& words, const schema::ProfileRun& run);

}  // namespace ridgeline::report
