// SPDX-License-Identifier: Apache-2.0
// Throughput, latency and memory over batch sizes and sessions in flight.
#include <algorithm>

#include "base/text.hpp"
#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/sections/gpu_columns.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

std::string load_of(const TuneView& view, const schema::TunedTrial& trial) {
  const auto batch = trial.configuration.get_or("batch_size", view.run.model.batch_axis_size.value_or(1)).as_integer(1);
  const auto sessions = trial.configuration.get_or("parallel_sessions", 1).as_integer(1);
  const auto runs = trial.configuration.get_or("concurrent_runs", 1).as_integer(1);
  return fmt::format("batch {}, {}{}", batch, counted(static_cast<std::size_t>(sessions), "session"),
                     runs > 1 ? fmt::format(" of {} threads", runs) : "");
}

struct Answer {
  std::string_view wanted;
  const analysis::RankedTrial* found = nullptr;
};

std::vector<Answer> answers_of(const analysis::LoadCurve& load) {
  std::vector<Answer> answers{{"Highest throughput", load.highest_throughput}, {"Lowest latency", load.lowest_latency}};
  if (load.has_latency_limit) answers.push_back({"Best throughput under the latency limit", load.within_limit});
  if (load.per_gb != nullptr) answers.push_back({"Best throughput per GB", load.per_gb});
  return answers;
}

Table answers_table(const TuneView& view) {
  Table table{"Which load for which purpose",
              {{"Wanted"},
               {"Trial", Align::right},
               {"Load"},
               {"Items/s", Align::right},
               {"Median, " + view.latency.unit, Align::right},
               {"GPU peak, GB", Align::right},
               {"Items/s per GB", Align::right}},
              {}};
  for (const auto& [wanted, found] : answers_of(view.load)) {
    const std::string dash(kAbsent);
    if (found == nullptr) {
      table.rows.push_back(
          {{std::string(wanted), dash, "none of the trials", dash, dash, dash, dash}, Tone::warning, ""});
      continue;
    }
    const auto memory = gpu_metric(found->outcome, "gpu_memory_gb");
    table.rows.push_back(
        {{fmt::format("{}{}", wanted, found->meets_constraints ? "" : ", not within the latency limit"),
          trial_link(found->trial->id), load_of(view, *found->trial), view.rate.number(found->summary.throughput_per_s),
          view.latency.number(found->summary.median_ns), gpu_metric_text(found->outcome, "gpu_memory_gb"),
          memory && *memory > 0 ? view.rate.number(found->summary.throughput_per_s / *memory) : dash},
         !found->meets_constraints            ? Tone::warning
         : view.recommended() == found->trial ? Tone::good
                                              : Tone::neutral,
         ""});
  }
  return table;
}

std::string failure_text(const schema::TrialOutcome& outcome) {
  auto text = status_text(outcome.status);
  if (outcome.failure && outcome.failure->requested_bytes)
    text += fmt::format(", {} asked for", base::format_bytes(static_cast<double>(*outcome.failure->requested_bytes)));
  return text;
}

std::string remarks_on(const TuneView& view, const analysis::LoadPoint& point) {
  std::vector<std::string> remarks;
  if (!point.best_of_load)
    for (const auto& [wanted, found] : answers_of(view.load))
      if (found == point.ranked) remarks.push_back(fmt::format("listed for \"{}\"", wanted));
  if (!point.ranked->meets_constraints) remarks.push_back("constraint: " + plain_text(point.ranked->broken_constraint));
  const auto& front = view.load.front;
  if (std::find(front.begin(), front.end(), point.trial->id) != front.end())
    remarks.emplace_back("on the Pareto front");
  return fmt::format("{}", fmt::join(remarks, "; "));
}

Table loads_table(const TuneView& view) {
  Table table{"Every load, with its best trial",
              {{"Sessions", Align::right},
               {"Batch", Align::right},
               {"Trial", Align::right},
               {"Items/s", Align::right},
               {"Median, " + view.latency.unit, Align::right},
               {"p99, " + view.latency.unit, Align::right, true},
               {"GPU peak, GB", Align::right},
               {"Energy, mJ/item", Align::right, true},
               {"Remarks"}},
              {}};
  for (const auto& point : view.load.points) {
    const std::string dash(kAbsent);
    Table::Row row;
    row.cells = {fmt::format("{}", point.sessions), fmt::format("{}", point.batch), trial_link(point.trial->id)};
    if (point.ranked == nullptr) {
      row.cells.insert(row.cells.end(), 5, dash);
      row.cells.push_back(failure_text(*point.outcome));
      row.tone = Tone::bad;
    } else {
      const auto& summary = point.ranked->summary;
      row.cells.insert(row.cells.end(),
                       {view.rate.number(summary.throughput_per_s), view.latency.number(summary.median_ns),
                        summary.p99_ns ? view.latency.number(*summary.p99_ns) : dash,
                        gpu_metric_text(point.outcome, "gpu_memory_gb"),
                        gpu_metric_text(point.outcome, "gpu_energy_mj_per_item"), remarks_on(view, point)});
      row.tone = !point.ranked->meets_constraints    ? Tone::warning
                 : view.recommended() == point.trial ? Tone::good
                                                     : Tone::neutral;
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Section load_section(const TuneView& view) {
  Section section{"load", "Batch and concurrency", {}};
  if (view.load.points.empty()) return section;
  section.blocks.emplace_back(answers_table(view));
  section.blocks.emplace_back(load_chart(view));
  if (auto chart = load_memory_chart(view)) section.blocks.emplace_back(std::move(*chart));
  section.blocks.emplace_back(loads_table(view));
  return section;
}

}  // namespace ridgeline::report
