// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/cell_grid.hpp"
#include "monitor/history.hpp"
#include "monitor/snapshot.hpp"
#include "monitor/view_state.hpp"

namespace ridgeline::monitor {

struct ScreenSize {
  int rows = 24;
  int columns = 80;
  bool unicode = true;
};

/// The whole screen for one look; pure: the same input draws the same cells. Lays out for any size: what does not fit
/// goes in the order plots, details of the selected GPU, processes.
[[nodiscard]] CellGrid draw_screen(const Snapshot& snapshot, const History& history, const ViewState& view,
                                   const ScreenSize& size);

/// The same for one look printed once: as many rows as it takes, without plots and keys, its processes as `order` has
/// them.
[[nodiscard]] CellGrid draw_once(const Snapshot& snapshot, const ProcessOrder& order, int columns, bool unicode);

}  // namespace ridgeline::monitor
