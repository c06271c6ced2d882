// SPDX-License-Identifier: Apache-2.0
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/accuracy_columns.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {

Section method_section(const TuneView& view) {
  const auto& run = view.run;
  const auto& plan = run.plan;
  Section section{"method", "How it was measured", {}};
  Facts facts;
  const auto add = [&](const char* key, std::string value) { facts.rows.emplace_back(key, std::move(value)); };
  add("Objective", view.objective_title());
  if (view.on_gpu()) add("Scenario", view.text(view.scenario()));
  std::string constraints;
  for (const auto& constraint : run.request.constraints)
    constraints += (constraints.empty() ? "" : " ") + code_mark(constraint.to_text());
  if (!constraints.empty()) add("Constraints", constraints);
  add("Warm-up", view.text(messages::tune_warmup(
                     {.runs = std::max<std::int64_t>(plan.warmup_runs, 0), .most = plan.warmup_max_s * 1e9})));
  add("Timed", view.text(messages::tune_timed({.runs = plan.runs,
                                               .within = plan.target_interval_ratio,
                                               .least = plan.min_time_s * 1e9,
                                               .most = plan.max_time_s * 1e9,
                                               .least_runs = plan.min_runs,
                                               .most_runs = plan.max_runs})));
  add("Minimum effect", percent(run.request.min_effect));
  if (const auto limits = accuracy_limits(run); !limits.empty()) add("Output tolerance", view.text(limits));
  add("Seed", fmt::format("{}", run.request.seed));
  add("Started", utc_text(run.started_utc));
  if (!run.finished_utc.empty()) add("Finished", utc_text(run.finished_utc));
  for (const auto& origin : run.current_origins) add("Current setting", plain_text(origin));
  section.blocks.emplace_back(std::move(facts));
  section.blocks.emplace_back(BulletList{
      view.words.texts({messages::tune_means_median(), messages::tune_means_p99(), messages::tune_means_throughput(),
                        messages::tune_means_ratio(), messages::tune_means_error(), messages::tune_means_stopped()})});
  return section;
}

Section reproduce_section(const TuneView& view) {
  Section section{"reproduce", "Reproduce", {}};
  const auto& run = view.run;
  if (run.command_line.empty() && run.id.empty()) return section;
  if (!run.command_line.empty()) {
    section.blocks.emplace_back(Paragraph{view.text(messages::tune_reproduce())});
    section.blocks.emplace_back(CodeBlock{"sh", run.command_line + "\n"});
  }
  if (!run.id.empty()) {
    std::string more = fmt::format("ridgeline show {}\n", run.id);
    if (view.recommended() != nullptr) more += fmt::format("ridgeline rerun {}/{}\n", run.id, view.recommended()->id);
    if (view.changes()) more += fmt::format("ridgeline apply {} --config config.yaml\n", run.id);
    section.blocks.emplace_back(Paragraph{view.text(messages::tune_look_again())});
    section.blocks.emplace_back(CodeBlock{"sh", more});
  }
  return section;
}

}  // namespace ridgeline::report
