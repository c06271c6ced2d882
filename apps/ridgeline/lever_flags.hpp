// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "ridgeline/bench_flags.hpp"

namespace ridgeline::app {

/// Whether a script or a function of the user's own is trained: their levers are tried unless none are to be.
[[nodiscard]] bool has_own_training(const BenchFlags& flags, const Context& context);
/// Whether what is trained may have levers: that, or a built-in model, whose levers are tried by name.
[[nodiscard]] bool may_have_levers(const BenchFlags& flags, const Context& context);
/// The LibTorch plugin has none. Errors: invalid_argument, naming the option that asks for one.
[[nodiscard]] base::Result<void> refuse_levers_in_plugin(const BenchFlags& flags);

/// --lever: options of the job. Errors: invalid_argument (no such lever, no value, nothing that has levers).
[[nodiscard]] base::Result<void> read_set_levers(const BenchFlags& flags, bool has_levers,
                                                 campaign::BenchRequest& request);
/// --try, by default all. Errors: invalid_argument, likewise.
[[nodiscard]] base::Result<void> read_tried_levers(const BenchFlags& flags, bool has_levers,
                                                   campaign::BenchRequest& request);

/// --memory-limit: an option of the job. `capacity_bytes`: of the GPU; 0: not known. Errors: invalid_argument (no size,
/// no GPU, more than the GPU has, nothing whose allocator can be limited).
[[nodiscard]] base::Result<void> read_memory_limit(const BenchFlags& flags, bool has_levers, double capacity_bytes,
                                                   campaign::BenchRequest& request);

}  // namespace ridgeline::app
