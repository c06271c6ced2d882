// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/cell_grid.hpp"
#include "monitor/screen.hpp"
#include "monitor/stream_view.hpp"

namespace ridgeline::monitor {

/// The whole screen of a running stream; pure. Lays out for any size: plots take the rows that are left, and what does
/// not fit goes in the order notes, GPU, sources.
[[nodiscard]] CellGrid draw_stream_screen(const StreamView& view, const ScreenSize& size);

}  // namespace ridgeline::monitor
