// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/cell_grid.hpp"
#include "monitor/history.hpp"
#include "monitor/snapshot.hpp"
#include "monitor/view_state.hpp"

/// The parts of the screen. Each draws from `row` on and returns the row after it.
namespace ridgeline::monitor {

/// CPU and memory of the machine, one line.
int draw_host(CellGrid& canvas, int row, const HostReading& host);

/// One line a GPU, from `first` on, at most `rows` with the header.
int draw_gpu_list(CellGrid& canvas, int row, int rows, const Snapshot& snapshot, int selected);

/// Everything about one GPU.
int draw_gpu(CellGrid& canvas, int row, const GpuReading& gpu, double since_start_s);
/// Rows that takes.
[[nodiscard]] int gpu_rows(const GpuReading& gpu) noexcept;

/// Plots of a GPU, or of the host when it is nullptr, in `rows` rows.
int draw_plots(CellGrid& canvas, int row, int rows, const GpuReading* gpu, const History& history);

/// The table of processes in `rows` rows with its header.
int draw_processes(CellGrid& canvas, int row, int rows, const Snapshot& snapshot, const ViewState& view);

/// A text over several lines, broken at blanks; at most `rows` of them.
int draw_text(CellGrid& canvas, int row, int rows, std::string_view text, Style style);

}  // namespace ridgeline::monitor
