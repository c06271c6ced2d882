// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/accuracy_columns.hpp"
#include "report/sections/gpu_columns.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

std::optional<double> compile_s(const schema::Measurement* measured) {
  if (measured == nullptr) return std::nullopt;
  const auto found = measured->metrics.find("compile_s");
  return found == measured->metrics.end() ? std::nullopt : std::optional(found->second);
}

/// "41 s", or "3.1 s, cached" of one that another trial had compiled the kernels for.
std::string compile_text(const schema::Measurement* measured) {
  const auto seconds = compile_s(measured);
  if (!seconds) return std::string(kAbsent);
  return base::format_duration(*seconds * 1e9) + (schema::has_flag(measured->flags, "warm_compile") ? ", cached" : "");
}

Table::Row trial_row(const TuneView& view, const GpuColumns& gpu, const AccuracyColumns& accuracy,
                     const schema::TunedTrial& trial, bool compiles) {
  const auto dash = std::string(kAbsent);
  const auto* outcome = view.outcome(trial);
  const auto* ranked = view.ranked(trial.id);
  const auto* measured = outcome != nullptr && outcome->measurement ? &*outcome->measurement : nullptr;
  std::string flags;
  if (measured != nullptr)
    for (const auto& flag : measured->flags)
      if (flag.level != schema::FlagLevel::info || flag.code == schema::kRanAs)
        flags += (flags.empty() ? "" : ", ") + plain_text(view.words.text(flag.message));
  Table::Row row;
  row.anchor = fmt::format("trial-{}", trial.id);
  row.cells = {fmt::format("{}", trial.id),
               std::string(base::enum_name(trial.stage)),
               view.ending(trial) + (trial.cached ? ", cached" : ""),
               view.difference_marked(trial.configuration),
               ranked != nullptr ? view.latency.number(ranked->summary.median_ns) : dash,
               ranked != nullptr ? view.latency.interval({ranked->summary.median_interval_ns.low,
                                                          ranked->summary.median_interval_ns.high})
                                 : dash,
               ranked != nullptr ? view.rate.number(ranked->summary.throughput_per_s) : dash,
               measured != nullptr ? fmt::format("{}", measured->latency_ns.size()) : dash,
               measured != nullptr ? base::format_duration(measured->session_create_ns) : dash,
               measured != nullptr ? base::format_duration(measured->first_run_ns) : dash};
  if (compiles) row.cells.push_back(compile_text(measured));
  gpu.add_cells(row.cells, outcome);
  accuracy.add_cells(row.cells, outcome);
  row.cells.push_back(base::format_duration(trial.started_s * 1e9));
  row.cells.push_back(plain_text(view.words.text(trial.reason)) +
                      (flags.empty() ? "" : (trial.reason.empty() ? "" : "; ") + flags));
  if (outcome == nullptr || outcome->status == schema::TrialStatus::rejected_accuracy)
    row.tone = Tone::warning;
  else if (outcome->status != schema::TrialStatus::ok)
    row.tone = Tone::bad;
  else if (view.recommended() == &trial)
    row.tone = Tone::good;
  return row;
}

}  // namespace

Section trials_section(const TuneView& view) {
  Section section{"trials", "All trials", {}};
  if (view.run.trials.empty()) return section;
  const auto unit = view.latency.unit;
  Table table{view.text(messages::tune_trials_table()),
              {{"Trial", Align::right},
               {"Stage"},
               {"Ended"},
               {view.text(messages::tune_differing())},
               {"Median, " + unit, Align::right},
               {"95 % interval", Align::right},
               {"Items/s", Align::right},
               {"Samples", Align::right},
               {"Session", Align::right},
               {"First run", Align::right}},
              {}};
  const bool compiles = std::any_of(view.run.trials.begin(), view.run.trials.end(),
                                    [&](const auto& trial) { return compile_s(view.measurement(trial)).has_value(); });
  if (compiles) table.columns.push_back({"Compile", Align::right});
  const GpuColumns gpu(view, {"gpu_memory_gb", "gpu_weights_gb", "gpu_arena_gb", "gpu_energy_mj_per_item"});
  gpu.add_titles(table.columns);
  const AccuracyColumns accuracy(view);
  accuracy.add_titles(table.columns);
  table.columns.push_back({"Started", Align::right});
  table.columns.push_back({"Reason and remarks"});
  for (const auto& trial : view.run.trials) table.rows.push_back(trial_row(view, gpu, accuracy, trial, compiles));
  section.blocks.emplace_back(
      Paragraph{view.text(messages::tune_trials(code_mark(fmt::format("ridgeline rerun {}/TRIAL", view.run.id))))});
  section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace ridgeline::report
