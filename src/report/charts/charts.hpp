// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "report/report_model.hpp"
#include "report/tune_view.hpp"

namespace ridgeline::report {

/// The objective of the best trials with interval whiskers, one row a trial.
[[nodiscard]] Chart ranking_chart(const TuneView& view);
/// The objective of the configuration in use and of the recommended one, or else the best other one.
[[nodiscard]] Bars verdict_bars(const TuneView& view);
/// Leave-one-out contribution of each setting, in percent, with interval whiskers.
[[nodiscard]] Chart effects_chart(const TuneView& view);
/// Quantile boxes of the best trials' latency samples.
[[nodiscard]] Chart distribution_chart(const TuneView& view);
/// Share of inferences that took no longer than x: the recommended trial, the current one and runners-up.
[[nodiscard]] Chart ecdf_chart(const TuneView& view);
/// Throughput over median latency with the Pareto front.
[[nodiscard]] Chart tradeoff_chart(const TuneView& view);
/// Every trial at the time it started, and the best so far.
[[nodiscard]] Chart timeline_chart(const TuneView& view);
/// SM clock, power and temperature of the GPU on the time axis of timeline_chart, with marks where clocks were
/// throttled ; a line for each of several GPUs. nullopt without telemetry.
[[nodiscard]] std::optional<Chart> gpu_timeline_chart(const TuneView& view);
/// Throughput over median latency, one line a number of sessions along its batch sizes, with the Pareto front.
[[nodiscard]] Chart load_chart(const TuneView& view);
/// The same loads over GPU memory; nullopt where fewer than two are known.
[[nodiscard]] std::optional<Chart> load_memory_chart(const TuneView& view);

}  // namespace ridgeline::report
