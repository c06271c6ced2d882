// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::report {

/// Batch, Workers, AMP, Pin, I/O(ms), H2D(ms), Fwd(ms), Bwd(ms), Opt(ms), Total(ms), Samples/s, GPU%, Mem(GB), Status:
/// the columns that users of the older tool know.
[[nodiscard]] const std::vector<Table::Column>& bench_columns();

/// One trial's cells. Times are medians; samples/s carries half its 95 % interval ("4,120 ±25"); the status says what
/// kind of trial it was when it was not one with the loader, and why it failed.
[[nodiscard]] Table::Row bench_row(const schema::MessageRenderer& words, const schema::BenchTrial& trial);

/// "OOM", "failed: RuntimeError: ...".
[[nodiscard]] std::string bench_status(const schema::MessageRenderer& words, const schema::BenchTrial& trial);

/// The row of fixed widths that a live display of so many columns prints as trials end: on a narrow one without the
/// phases. Cells beyond their width push the rest.
[[nodiscard]] std::string bench_line(const std::vector<std::string>& cells, int width);

}  // namespace ridgeline::report
