// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/message.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// 0 of nothing.
[[nodiscard]] double share_of(std::int64_t part, std::int64_t whole);

/// Different ones, as far as is known: processes that we recorded share the numbers of GPUs, those of other profilers
/// may each have a GPU 0 of its own.
[[nodiscard]] std::int64_t gpu_count(const schema::ProfileRun& run);

/// What the memory of the GPUs reaches at most, if the trace tells it and it is one for all; else 0.
[[nodiscard]] double peak_bytes_per_s(const schema::ProfileRun& run);

/// Whether rates follow from the time of so many calls of nodes: not from one that is less than what the profiler takes
/// for them, which was taken off.
[[nodiscard]] bool tells_rate(const schema::ProfileRun& run, std::int64_t calls, std::int64_t ns);
/// For people: of how many nodes no rates are given; how many nodes and kernels would reach more than the roof or the
/// memory's peak, and what that means.
[[nodiscard]] std::vector<schema::Message> rate_notes(const schema::ProfileRun& run);

/// The same with times, calls, bytes and FLOPs of one run of the model, where the totals are over several: what people
/// want to see of a model that was run again and again.
[[nodiscard]] schema::ProfileRun per_run(schema::ProfileRun run);

/// All time that rows of the module tree are a share of: of the GPUs, or of the nodes without one.
[[nodiscard]] std::int64_t whole_ns(const schema::ProfileRun& run);
/// Of a row: on the GPU, or on the host in a profile without one.
[[nodiscard]] std::int64_t row_ns(const schema::ProfileRun& run, const schema::ProfileModule& row);
/// Of that, what a row's bytes are of.
[[nodiscard]] std::int64_t rated_ns(const schema::ProfileRun& run, const schema::ProfileModule& row);

}  // namespace ridgeline::report
