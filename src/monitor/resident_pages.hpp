// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::monitor {

/// Gives back the pages of libraries' uninitialized variables that hold nothing but zeros: they read as zeros again and
/// come back when they are written to. After its start NVML had 13 MiB of such zeros on an H200. Other threads may
/// write to them meanwhile. Does nothing on Linux before 5.4.
void release_zero_pages() noexcept;

/// Gives back the resident pages of the program's and its libraries' code and constants; what is still used comes back
/// from the page cache when it is touched. For a program that stays long: starting (the command line, the driver's
/// libraries) touches several times the pages that it needs afterwards. Gives back pages of zeros as well.
void release_start_up_pages() noexcept;

}  // namespace ridgeline::monitor
