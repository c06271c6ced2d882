// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::host {

/// How the calling thread treats denormal numbers (floats below 1.2e-38, doubles below 2.3e-308) from here on: as they
/// are, which takes many CPUs a hundred cycles an operation, or as zero. Forgets what it has met of them. Threads that
/// it starts inherit the mode. No effect on CPUs other than x86-64 and AArch64.
void set_float_mode(bool denormals_are_zero) noexcept;

/// Whether arithmetic of the calling thread has met a denormal number since its last set_float_mode(false). On AArch64
/// results only, not operands; false elsewhere.
[[nodiscard]] bool has_met_denormals() noexcept;

}  // namespace ridgeline::host
