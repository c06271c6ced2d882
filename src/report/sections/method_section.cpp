// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/sections/accuracy_columns.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {

Section method_section(const TuneView& view) {
  const auto& run = view.run;
  const auto& plan = run.plan;
  Section section{"method", "How it was measured", {}};
  Facts facts;
  const auto add = [&](const char* key, std::string value) { facts.rows.emplace_back(key, std::move(value)); };
  add("Objective", std::string(objective_title(run.request.objective)));
  if (view.on_gpu()) add("Scenario", scenario_text(run));
  std::string constraints;
  for (const auto& constraint : run.request.constraints)
    constraints += (constraints.empty() ? "" : " ") + code_mark(constraint.to_text());
  if (!constraints.empty()) add("Constraints", constraints);
  add("Warm-up",
      fmt::format("at least {}, then until times are steady, at most {}",
                  counted(static_cast<std::size_t>(std::max<std::int64_t>(plan.warmup_runs, 0)), "inference"),
                  base::format_duration(plan.warmup_max_s * 1e9)));
  add("Timed",
      plan.runs
          ? fmt::format("{} inferences per caller, fixed", *plan.runs)
          : fmt::format("until the 95 % interval of the median is within ±{} of it, {} to {}, {} to {} inferences",
                        percent(plan.target_interval_ratio), base::format_duration(plan.min_time_s * 1e9),
                        base::format_duration(plan.max_time_s * 1e9), plan.min_runs, plan.max_runs));
  add("Smallest effect that counts", percent(run.request.min_effect));
  if (const auto limits = accuracy_limits_text(run); !limits.empty()) add("Output tolerance", limits);
  add("Seed", fmt::format("{}", run.request.seed));
  add("Started", utc_text(run.started_utc));
  if (!run.finished_utc.empty()) add("Finished", utc_text(run.finished_utc));
  for (const auto& origin : run.current_origins) add("Current setting", plain_text(origin));
  section.blocks.emplace_back(std::move(facts));
  section.blocks.emplace_back(BulletList{
      {"**Median latency**: half of the timed inferences took no longer. Its interval rests on order statistics and "
       "assumes no "
       "shape of the distribution.",
       "**p99**: 99 % took no longer; printed only from 1000 samples on, so that ten lie beyond it.",
       "**Throughput**: items finished in the timed window, divided by its length, all sessions together.",
       "**Ratio**: the value of two configurations measured alternately (A B B A …) in one process, so that drift "
       "cancels, over "
       "several pairs of sessions made in counterbalanced order, because two sessions of one configuration differ a "
       "little for "
       "as long as they live. "
       "Above 1 the second is better. With its 95 % interval: were the comparison repeated many times, 95 of 100 such "
       "intervals "
       "would hold the true ratio.",
       "**Output error**: the largest difference of an output element from the reference configuration's, as a share "
       "of that "
       "output's "
       "largest magnitude; of integers, truth values and texts, the share of elements that differ.",
       "**Stopped early**: a trial that ended because it could no longer win; its numbers rest on fewer samples."}});
  return section;
}

Section reproduce_section(const TuneView& view) {
  Section section{"reproduce", "Reproduce", {}};
  const auto& run = view.run;
  if (run.command_line.empty() && run.id.empty()) return section;
  if (!run.command_line.empty()) {
    section.blocks.emplace_back(
        Paragraph{"The command that made this run; on the same machine it answers from the store:"});
    section.blocks.emplace_back(CodeBlock{"sh", run.command_line + "\n"});
  }
  if (!run.id.empty()) {
    std::string more = fmt::format("ridgeline show {}\n", run.id);
    if (view.recommended() != nullptr) more += fmt::format("ridgeline rerun {}/{}\n", run.id, view.recommended()->id);
    if (view.changes()) more += fmt::format("ridgeline apply {} --config config.yaml\n", run.id);
    section.blocks.emplace_back(
        Paragraph{"Look at it again, measure the recommended trial once more, or apply the result later:"});
    section.blocks.emplace_back(CodeBlock{"sh", more});
  }
  return section;
}

}  // namespace ridgeline::report
