// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/cell_grid.hpp"
#include "monitor/stream_view.hpp"

/// The parts of a stream's screen.
namespace ridgeline::monitor {

/// Columns `from` to `to` (not included) of rows from `row` on.
struct StreamArea {
  int row = 0;
  int from = 0;
  int to = 0;
  int rows = 1;
};

/// Heading and a plot of the frames delivered a second.
void draw_stream_rate(CellGrid& canvas, const StreamArea& area, const StreamView& view);
/// Heading and a plot of p99; the top of the plot is the SLO where it is above all of them.
void draw_stream_p99(CellGrid& canvas, const StreamArea& area, const StreamView& view);
/// Quantiles of the last second and since the start; how full the queue is, and how busy the workers are.
void draw_stream_latency(CellGrid& canvas, const StreamArea& area, const StreamView& view);
/// Share of the inferences by their number of frames; neighbours are joined where rows are too few.
void draw_stream_batches(CellGrid& canvas, const StreamArea& area, const StreamView& view);
/// Where the time of workers goes: inference, and idle by its cause.
void draw_stream_time(CellGrid& canvas, const StreamArea& area, const StreamView& view);
/// Frames that came in, were delivered, and were dropped by reason.
void draw_stream_frames(CellGrid& canvas, const StreamArea& area, const StreamView& view);
/// One line; nothing without a GPU. Returns the row after it.
int draw_stream_gpu(CellGrid& canvas, int row, const StreamView& view);

/// Rows that draw_stream_time takes.
[[nodiscard]] int stream_time_rows(const StreamView& view);
/// Rows that draw_stream_latency takes.
inline constexpr int kStreamLatencyRows = 5;

}  // namespace ridgeline::monitor
