// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::monitor {

/// Gives back the resident pages of the program's and its libraries' code and constants; what is still used comes back from
/// the page cache when it is touched. For a program that stays long: starting (the command line, the driver's libraries)
/// touches several times the pages that it needs afterwards.
void release_start_up_pages() noexcept;

}  // namespace ridgeline::monitor
