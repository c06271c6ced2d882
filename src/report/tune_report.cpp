// SPDX-License-Identifier: Apache-2.0
#include "report/tune_report.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"
#include "report/simulated.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

std::string model_title(const schema::TuneRun& run) {
  auto name = run.model.path.empty() ? run.workload.location : run.model.path;
  const auto slash = name.find_last_of('/');
  if (slash != std::string::npos) name.erase(0, slash + 1);
  return one_line(name);
}

std::string subtitle(const TuneView& view) {
  const auto& run = view.run;
  std::string out;
  const auto add = [&](const std::string& word) {
    const auto line = one_line(word);
    if (!line.empty()) out += (out.empty() ? "" : " · ") + line;
  };
  add(run.runtime.name + " " + run.runtime.version);
  add(run.provider);
  add(view.gpu() != nullptr ? view.gpu()->name : run.environment.cpu_model);
  if (view.on_gpu()) add("--io " + run.tensor_location);
  add(run.started_utc.substr(0, 10));
  add(run.id.empty() ? "" : "run " + run.id);
  return out;
}

bool answered_from_store(const schema::TuneRun& run) {
  return !run.trials.empty() &&
         std::all_of(run.trials.begin(), run.trials.end(), [](const auto& trial) { return trial.cached; });
}

}  // namespace

ReportModel build_tune_report(const schema::MessageRenderer& words, const schema::TuneRun& run,
                              const analysis::OutcomesByKey& outcomes, const analysis::PairsByKey& pairs) {
  static constexpr std::array kSections{verdict_section,  candidates_section,  ranking_section, effects_section,
                                        findings_section, gpu_section,         load_section,    latency_section,
                                        tradeoff_section, code_section,        search_section,  pruned_section,
                                        failures_section, environment_section, model_section,   runtime_section,
                                        method_section,   reproduce_section,   trials_section};
  const TuneView view(words, run, outcomes, pairs);
  ReportModel report;
  const auto name = model_title(run);
  report.title = is_simulated(run) ? "Tuning report (simulated)" : "Tuning report";
  if (!name.empty()) report.title += ": " + name;
  report.subtitle = subtitle(view);
  report.asked = one_line(view.text(
      messages::tune_asked({.model = name.empty() ? run.workload.location : name,
                            .provider = run.provider,
                            .objective = objective_name(run.request.objective),
                            .trials = std::ssize(run.trials),
                            .time = answered_from_store(run) ? std::nullopt : std::optional(run.duration_s * 1e9),
                            .simulated = is_simulated(run)})));
  report.answer = answer_section(view);
  report.bars = verdict_bars(view);
  for (const auto build : kSections) {
    auto section = build(view);
    if (!section.blocks.empty()) report.sections.push_back(std::move(section));
  }
  report.footer =
      one_line(words.text(messages::made_by({.version = run.environment.ridgeline_version, .run = run.id})));
  return report;
}

}  // namespace ridgeline::report
