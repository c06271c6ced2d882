// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::base {

/// Makes SIGINT, SIGTERM and SIGHUP set the flag that `cancel_requested` reads; a second SIGINT ends the process at
/// once.
void install_cancel_signals() noexcept;

/// Gives those signals back what they did before install_cancel_signals, for a child that is about to become another
/// program: one that nohup started goes on ignoring SIGHUP. Async-signal-safe.
void restore_cancel_signals() noexcept;

/// Counts as a first SIGINT, of which somebody else took notice.
void request_cancel() noexcept;

/// True once a signal asked to stop. Async-signal-safe, cheap enough for loops.
[[nodiscard]] bool cancel_requested() noexcept;

}  // namespace ridgeline::base
