// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::report {

/// Columns of a table of trials: number, a column a parameter, the objective, further metrics that were asked for,
/// Seconds, CPU%, Mem(GB), with GPUs GPU%, GPU(GB) and Power(W), Status.
[[nodiscard]] std::vector<Table::Column> sweep_columns(const schema::SweepRun& run);

/// One trial's cells.
[[nodiscard]] Table::Row sweep_row(const schema::MessageRenderer& words, const schema::SweepRun& run,
                                   const schema::SweepTrial& trial);

/// Widths that hold every value of the parameters and usual numbers, so that a live display lines up before it has seen
/// them; the last one is 0: as long as it is.
[[nodiscard]] std::vector<std::size_t> sweep_widths(const schema::SweepRun& run);

/// The cells in those widths; longer ones push the rest.
[[nodiscard]] std::string sweep_line(const std::vector<std::string>& cells, const std::vector<Table::Column>& columns,
                                     const std::vector<std::size_t>& widths);

/// Combinations, best first: parameters, the objective with half its interval, how far behind the best,
/// verdict, metrics, trials.
[[nodiscard]] Table sweep_points_table(const schema::SweepRun& run);

/// "ok", "OOM: torch.OutOfMemoryError: ...", "failed: exit code 2: no such file".
[[nodiscard]] std::string sweep_status(const schema::MessageRenderer& words, const schema::SweepTrial& trial);

/// "4120", "13.42", "0.0031": four significant digits, whole numbers from 1000 on.
[[nodiscard]] std::string sweep_number(double value);

/// "13.42 ±0.20"; without an interval the number alone.
[[nodiscard]] std::string sweep_estimate(const stats::Estimate& estimate);

}  // namespace ridgeline::report
