// SPDX-License-Identifier: Apache-2.0
// Throughput, latency and memory over batch sizes and sessions in flight.
#include <algorithm>

#include "base/text.hpp"
#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/gpu_columns.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

std::string load_of(const TuneView& view, const schema::TunedTrial& trial) {
  const auto batch = trial.configuration.get_or("batch_size", view.run.model.batch_axis_size.value_or(1)).as_integer(1);
  const auto sessions = trial.configuration.get_or("parallel_sessions", 1).as_integer(1);
  const auto runs = trial.configuration.get_or("concurrent_runs", 1).as_integer(1);
  return view.text(messages::tune_load(
      {.batch = batch, .sessions = sessions, .threads = runs > 1 ? std::optional(runs) : std::nullopt}));
}

struct Answer {
  messages::TuneLoadWantedWanted wanted;
  const analysis::RankedTrial* found = nullptr;

  [[nodiscard]] schema::Message message() const {
    return messages::tune_load_wanted({.wanted = wanted, .outside = found != nullptr && !found->meets_constraints});
  }
};

std::vector<Answer> answers_of(const analysis::LoadCurve& load) {
  using enum messages::TuneLoadWantedWanted;
  std::vector<Answer> answers{{throughput, load.highest_throughput}, {latency, load.lowest_latency}};
  if (load.has_latency_limit) answers.push_back({within, load.within_limit});
  if (load.per_gb != nullptr) answers.push_back({per_gb, load.per_gb});
  return answers;
}

Table answers_table(const TuneView& view) {
  Table table{view.text(messages::tune_load_table()),
              {{"Wanted"},
               {"Trial", Align::right},
               {"Load"},
               {"Items/s", Align::right},
               {"Median, " + view.latency.unit, Align::right},
               {"GPU peak, GB", Align::right},
               {"Items/s per GB", Align::right}},
              {}};
  for (const auto& answer : answers_of(view.load)) {
    const auto* found = answer.found;
    const auto wanted = view.text(answer.message());
    const std::string dash(kAbsent);
    if (found == nullptr) {
      table.rows.push_back(
          {{wanted, dash, view.text(messages::tune_load_none()), dash, dash, dash, dash}, Tone::warning, ""});
      continue;
    }
    const auto memory = gpu_metric(found->outcome, "gpu_memory_gb");
    table.rows.push_back(
        {{wanted, trial_link(found->trial->id), load_of(view, *found->trial),
          view.rate.number(found->summary.throughput_per_s), view.latency.number(found->summary.median_ns),
          gpu_metric_text(found->outcome, "gpu_memory_gb"),
          memory && *memory > 0 ? view.rate.number(found->summary.throughput_per_s / *memory) : dash},
         !found->meets_constraints            ? Tone::warning
         : view.recommended() == found->trial ? Tone::good
                                              : Tone::neutral,
         ""});
  }
  return table;
}

std::string failure_text(const TuneView& view, const schema::TrialOutcome& outcome) {
  auto text = status_text(outcome.status);
  if (outcome.failure && outcome.failure->requested_bytes)
    text += ", " + view.text(messages::asked_for(static_cast<double>(*outcome.failure->requested_bytes)));
  return text;
}

std::string remarks_on(const TuneView& view, const analysis::LoadPoint& point) {
  std::vector<std::string> remarks;
  if (!point.best_of_load)
    for (const auto& answer : answers_of(view.load))
      if (answer.found == point.ranked)
        remarks.push_back(view.text(
            messages::tune_load_listed(messages::tune_load_wanted({.wanted = answer.wanted, .outside = false}))));
  if (!point.ranked->meets_constraints)
    remarks.push_back(view.text(messages::constraint(point.ranked->broken_constraint)));
  const auto& front = view.load.front;
  if (std::find(front.begin(), front.end(), point.trial->id) != front.end())
    remarks.push_back(view.text(messages::tune_load_on_front()));
  return fmt::format("{}", fmt::join(remarks, "; "));
}

Table loads_table(const TuneView& view) {
  Table table{view.text(messages::tune_loads_table()),
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
      row.cells.push_back(failure_text(view, *point.outcome));
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
