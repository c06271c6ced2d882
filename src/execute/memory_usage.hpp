// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ridgeline::execute {

/// Returns free heap to the kernel and resets this process's high-water mark of resident memory. False where the kernel
/// does not allow it: the mark then covers the process's whole life.
bool reset_peak_rss() noexcept;

/// The high-water mark (VmHWM) of this process.
[[nodiscard]] std::optional<std::int64_t> peak_rss_bytes();

/// Processes of this control group (version 2, else 1; else of the whole host) that the kernel has killed for want of
/// memory, ever; nullopt when it is not known. `root`: in front of /proc and /sys, for tests.
[[nodiscard]] std::optional<std::int64_t> oom_kills(const std::string& root = "");

}  // namespace ridgeline::execute
