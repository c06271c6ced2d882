// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/watch_flags.hpp"

namespace ridgeline::app {

/// `ridgeline watch`, until a signal or --count ends it: the exit code.
[[nodiscard]] base::Result<int> run_watch(const WatchFlags& flags, const Context& context);

}  // namespace ridgeline::app
