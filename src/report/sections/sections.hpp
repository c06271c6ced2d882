// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "analysis/comparison.hpp"
#include "report/report_model.hpp"
#include "report/tune_view.hpp"

namespace ridgeline::report {

// One function a section, each in its own file; tune_report.cpp lists them in order. A section without blocks is left
// out.

/// What was found, in some 15 lines of a terminal.
[[nodiscard]] Section answer_section(const TuneView& view);
[[nodiscard]] Section verdict_section(const TuneView& view);
[[nodiscard]] Section code_section(const TuneView& view);
[[nodiscard]] Section candidates_section(const TuneView& view);
[[nodiscard]] Section ranking_section(const TuneView& view);
[[nodiscard]] Section effects_section(const TuneView& view);
[[nodiscard]] Section findings_section(const TuneView& view);
[[nodiscard]] Section gpu_section(const TuneView& view);
[[nodiscard]] Section load_section(const TuneView& view);
[[nodiscard]] Section latency_section(const TuneView& view);
[[nodiscard]] Section tradeoff_section(const TuneView& view);
[[nodiscard]] Section search_section(const TuneView& view);
[[nodiscard]] Section pruned_section(const TuneView& view);
[[nodiscard]] Section failures_section(const TuneView& view);
[[nodiscard]] Section environment_section(const TuneView& view);
[[nodiscard]] Section model_section(const TuneView& view);
[[nodiscard]] Section runtime_section(const TuneView& view);
[[nodiscard]] Section method_section(const TuneView& view);
[[nodiscard]] Section reproduce_section(const TuneView& view);
[[nodiscard]] Section trials_section(const TuneView& view);

/// What the two took in the comparison of them, where their own trials give another ratio: they were measured at
/// different times, at which the machine was not equally fast.
[[nodiscard]] std::optional<analysis::ArmMedians> interleaved_medians(const TuneView& view);

}  // namespace ridgeline::report
