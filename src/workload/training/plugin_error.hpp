// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "workload/training/plugin_abi.h"
#include "workload/training/step_runner.hpp"

namespace ridgeline::workload {

/// For a call into a plugin.
[[nodiscard]] rl_train_error empty_plugin_error() noexcept;

/// What a plugin's failed call reported, `code` being what it returned. Out of memory keeps its evidence; a text that
/// only failed allocations produce counts as well, for errors that have no type or code of their own.
[[nodiscard]] StepError read_plugin_error(std::int32_t code, const rl_train_error& error);

/// An error of ours on its way through a plugin; gives the code to return. `out` may be nullptr.
std::int32_t write_plugin_error(const base::Error& error, rl_train_error* out) noexcept;

}  // namespace ridgeline::workload
