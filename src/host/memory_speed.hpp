// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::host {

/// Bytes a second, read and written together, that so many threads of this process copy between arrays far larger than
/// caches: the fastest of a few passes. 0 threads: one for each CPU that it may use. Takes about 0.3 s and 256 MiB.
[[nodiscard]] double memory_speed(int threads);

}  // namespace ridgeline::host
