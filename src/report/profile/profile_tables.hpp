// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

enum class ModuleOrder { time, calls, bytes, name };

/// Which rows of the module tree are shown.
struct ModuleView {
  int depth = 0;        ///< levels below the root; 0: those with enough time
  double least = 0.01;  ///< share of the whole that a row has at least, where depth is 0
  std::size_t most = 40;
  ModuleOrder order = ModuleOrder::time;
};

/// What the memory of the GPUs reaches at most, if the trace tells it and it is one for all; else 0.
[[nodiscard]] double peak_bytes_per_s(const schema::ProfileRun& run);
/// Of the peak; more cannot be, as bytes and time are not of the same work then. Clocks of a memory are not exact.
inline constexpr double kMostOfPeak = 1.05;

/// The tables of a profile, for terminals and reports alike. Names are foreign text: plain_text makes them harmless.
[[nodiscard]] Table time_table(const schema::ProfileRun& run);  ///< a row for what each GPU did, or what the host did
[[nodiscard]] Table module_table(const schema::ProfileRun& run, const ModuleView& view);
[[nodiscard]] std::string kernels_title(const schema::ProfileRun& run);  ///< "Kernels and graph launches"
[[nodiscard]] Table kernels_table(const schema::ProfileRun& run, std::size_t most);
[[nodiscard]] Table copies_table(const schema::ProfileRun& run, std::size_t most);
[[nodiscard]] Table nodes_table(const schema::ProfileRun& run, std::size_t most);
[[nodiscard]] Table operations_table(const schema::ProfileRun& run, std::size_t most);  ///< nodes by their operation
[[nodiscard]] Table steps_table(const schema::ProfileRun& run);
[[nodiscard]] Table idle_table(const schema::ProfileRun& run);

/// Whether rates follow from the time of so many calls of nodes: not from one that is less than what the profiler takes
/// for them, which was taken off.
[[nodiscard]] bool tells_rate(const schema::ProfileRun& run, std::int64_t calls, std::int64_t ns);
/// For people: of how many nodes no rates are given; how many nodes and kernels would reach more than the roof or the
/// memory's peak, and what that means.
[[nodiscard]] std::vector<std::string> rate_notes(const schema::ProfileRun& run);

/// The same with times, calls, bytes and FLOPs of one run of the model, where the totals are over several: what people
/// want to see of a model that was run again and again.
[[nodiscard]] schema::ProfileRun per_run(schema::ProfileRun run);

/// All time that rows of the module tree are a share of: of the GPUs, or of the nodes without one.
[[nodiscard]] std::int64_t whole_ns(const schema::ProfileRun& run);
/// Of a row: on the GPU, or on the host in a profile without one.
[[nodiscard]] std::int64_t row_ns(const schema::ProfileRun& run, const schema::ProfileModule& row);
/// Of that, what a row's bytes are of.
[[nodiscard]] std::int64_t rated_ns(const schema::ProfileRun& run, const schema::ProfileModule& row);

/// "waiting for the next launch".
[[nodiscard]] std::string_view cause_text(schema::IdleCause cause) noexcept;

}  // namespace ridgeline::report
