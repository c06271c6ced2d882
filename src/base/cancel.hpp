// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::base {

/// Makes SIGINT, SIGTERM and SIGHUP set the flag that `cancel_requested` reads; a second SIGINT ends the process at
/// once.
void install_cancel_signals() noexcept;

/// True once a signal asked to stop. Async-signal-safe, cheap enough for loops.
[[nodiscard]] bool cancel_requested() noexcept;

}  // namespace ridgeline::base
