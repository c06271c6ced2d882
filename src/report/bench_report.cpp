// SPDX-License-Identifier: Apache-2.0
#include "report/bench_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/bench_answers.hpp"
#include "report/bench_answer.hpp"
#include "report/bench_table.hpp"
#include "report/busy_share.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/simulated.hpp"
#include "report/utf8.hpp"
#include "stats/interval.hpp"

namespace ridgeline::report {
namespace {

using base::Json;
using schema::BenchAnswer;
using schema::BenchRun;
using schema::Message;
using schema::MessageRenderer;

std::string rate_text(const MessageRenderer& words, double rate) { return words.text(messages::bench_rate(rate)); }

Message answer_of(const BenchRun& run, const std::optional<BenchAnswer>& answer) {
  return answer ? bench_answer_of(run, *answer) : Message();
}

struct Named {
  const char* title;
  const std::optional<BenchAnswer>* answer;
};
std::vector<Named> named(const schema::BenchAnswers& answers) {
  return {{"Highest throughput", &answers.fastest},
          {"Best efficiency", &answers.efficient},
          {"Recommended", &answers.recommended}};
}

std::string off_front_text(const MessageRenderer& words, const std::string& title, const BenchAnswer& answer) {
  return words.text(messages::bench_off_front({.answer = title, .why = answer.off_front}));
}

Section answer_section(const MessageRenderer& words, const BenchRun& run) {
  Section section{"answer", "Answer", {}};
  if (!run.answers) {
    section.blocks.emplace_back(
        Callout{Tone::warning, "No answer", words.text(messages::bench_no_answer(!run.interruption.empty()))});
    return section;
  }
  KeyFigures figures;
  Facts facts;
  for (const auto& [title, answer] : named(*run.answers)) {
    if (!*answer) continue;
    figures.figures.push_back({title, rate_text(words, (*answer)->samples_per_s),
                               schema::describe((*answer)->settings, run.device),
                               std::string_view(title) == "Recommended" ? Tone::good : Tone::neutral});
    facts.rows.emplace_back(title, plain_text(words.text(messages::bench_answer_why(
                                       {.answer = bench_answer_of(run, **answer), .reason = (*answer)->reason}))));
  }
  facts.rows.emplace_back("Tolerance", words.text(messages::bench_tolerance(run.answers->tolerance)));
  section.blocks.emplace_back(std::move(figures));
  section.blocks.emplace_back(std::move(facts));
  if (!run.answers->no_recommendation.empty())
    section.blocks.emplace_back(Callout{Tone::warning, "Nothing to recommend",
                                        sentence(plain_text(words.text(run.answers->no_recommendation)))});
  if (!run.answers->ties.empty()) {
    std::vector<std::string> names;
    for (const auto& settings : run.answers->ties) names.push_back("`" + schema::describe(settings, run.device) + "`");
    section.blocks.emplace_back(Paragraph{words.text(messages::bench_ties(names))});
  }
  if (!run.interruption.empty())
    section.blocks.emplace_back(
        Callout{Tone::warning, "The run ended early", sentence(plain_text(words.text(run.interruption)))});
  return section;
}

Section findings_section_of(const MessageRenderer& words, const BenchRun& run) {
  Section section{"findings", "What limits training speed", {}};
  for (const auto& finding : run.findings) {
    const auto text = words.text(messages::bench_finding({.settings = schema::describe(finding.settings, run.device),
                                                          .evidence = finding.evidence,
                                                          .gain = finding.predicted_gain,
                                                          .advice = finding.advice}));
    section.blocks.emplace_back(
        Callout{finding.predicted_gain ? Tone::warning : Tone::neutral, words.text(finding.title), plain_text(text)});
  }
  BulletList notes;
  for (const auto& note : run.notes) notes.items.push_back(plain_text(words.text(note)));
  if (!notes.items.empty()) section.blocks.emplace_back(std::move(notes));
  return section;
}

/// Samples/s over batch, one line for each number of workers at the best of its precisions and pinnings.
Chart throughput_chart(const MessageRenderer& words, const BenchRun& run,
                       const std::vector<analysis::BenchPoint>& points) {
  Chart chart;
  chart.id = "throughput";
  chart.title = words.text(messages::bench_over_batch());
  std::map<int, std::map<std::int64_t, const analysis::BenchPoint*>> lines;
  for (const auto& point : points) {
    auto& best = lines[point.settings.workers][point.settings.batch];
    if (best == nullptr || point.samples_per_s > best->samples_per_s) best = &point;
  }
  auto series = Json::array();
  std::size_t index = 0;
  for (const auto& [workers, by_batch] : lines) {
    auto line = Json::array();
    auto marks = Json::array();
    for (const auto& [batch, point] : by_batch) {
      const auto place = Json::array({batch, rounded(point->samples_per_s)});
      line.push_back(place);
      marks.push_back(datum(
          place, Json::array({schema::describe(point->settings, run.device), rate_text(words, point->samples_per_s)}),
          point->trials.front(), point->low, point->high));
    }
    const auto role = fmt::format("series-{}", 1 + index++ % 4);
    const auto name = counted(static_cast<std::size_t>(workers), "worker");
    if (line.size() > 1)
      series.push_back(
          {{"type", "line"}, {"name", name}, {"role", role}, {"symbol", "none"}, {"data", std::move(line)}});
    series.push_back({{"type", "scatter"}, {"name", name}, {"role", role}, {"data", std::move(marks)}});
  }
  chart.option = {
      {"series", std::move(series)}, {"xAxis", value_axis("Batch size", 0)}, {"yAxis", value_axis("Samples/s", 0)}};
  chart.alternative =
      words.text(messages::bench_highest_of_chart(run.answers ? answer_of(run, run.answers->fastest) : Message()));
  return chart;
}

Chart memory_chart(const MessageRenderer& words, const BenchRun& run, const std::vector<analysis::BenchPoint>& points) {
  Chart chart;
  chart.id = "memory";
  chart.title = words.text(messages::bench_over_memory());
  auto others = Json::array();
  auto front = Json::array();
  for (const auto& point : points) {
    if (!point.memory_gb) continue;
    const auto place = Json::array({rounded(*point.memory_gb), rounded(point.samples_per_s)});
    const bool pareto = run.answers && std::find(run.answers->pareto.begin(), run.answers->pareto.end(),
                                                 point.settings) != run.answers->pareto.end();
    (pareto ? front : others)
        .push_back(datum(
            place, Json::array({schema::describe(point.settings, run.device), rate_text(words, point.samples_per_s)}),
            point.trials.front(), point.low, point.high));
  }
  chart.option = {
      {"xAxis", value_axis("Peak reserved memory, GB", 1)},
      {"yAxis", value_axis("Samples/s", 0)},
      {"series",
       Json::array({Json{{"type", "scatter"}, {"name", "Pareto front"}, {"role", "best"}, {"data", std::move(front)}},
                    Json{{"type", "scatter"}, {"name", "Others"}, {"role", "other"}, {"data", std::move(others)}}})}};
  chart.alternative =
      words.text(messages::bench_densest_of_chart(run.answers ? answer_of(run, run.answers->efficient) : Message()));
  return chart;
}

Section table_section(const MessageRenderer& words, const BenchRun& run) {
  Section section{"trials", "Trials", {}};
  const auto points = analysis::bench_points(run);
  if (points.size() > 1) {
    section.blocks.emplace_back(throughput_chart(words, run, points));
    if (std::count_if(points.begin(), points.end(), [](const auto& point) { return point.memory_gb.has_value(); }) > 1)
      section.blocks.emplace_back(memory_chart(words, run, points));
  }
  Table table;
  table.caption = words.text(messages::bench_caption());
  const bool beside = shows_nvml_beside(run);
  table.columns.push_back({"#", Align::right});
  for (const auto& column : bench_columns()) {
    table.columns.push_back(column);
    if (beside && column.title == kBusyColumn) table.columns.push_back({"NVML%", Align::right});
  }
  for (const auto& trial : run.trials) {
    auto row = bench_row(words, trial);
    if (const auto steps = analysis::cut_stability_run(trial); !steps.empty())
      row.cells.back() += ", " + words.text(steps);
    std::vector<std::string> cells{fmt::format("{}", trial.id)};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      cells.push_back(plain_text(row.cells[i]));
      if (beside && bench_columns()[i].title == kBusyColumn) cells.push_back(nvml_cell(trial));
    }
    row.cells = std::move(cells);
    table.rows.push_back(std::move(row));
  }
  section.blocks.emplace_back(std::move(table));
  if (!run.skipped.empty()) {
    BulletList list;
    for (const auto& skipped : run.skipped)
      list.items.push_back(plain_text(words.text(messages::bench_not_run(
          {.settings = schema::describe(skipped.settings, run.device), .reason = skipped.reason}))));
    section.blocks.emplace_back(std::move(list));
  }
  return section;
}

Section pareto_section(const MessageRenderer& words, const BenchRun& run) {
  Section section{"pareto", "Pareto front", {}};
  if (!run.answers || run.answers->pareto.empty()) return section;
  BulletList list;
  for (const auto& point : analysis::bench_points(run)) {
    if (std::find(run.answers->pareto.begin(), run.answers->pareto.end(), point.settings) == run.answers->pareto.end())
      continue;
    list.items.push_back(
        words.text(messages::bench_front_point({.settings = schema::describe(point.settings, run.device),
                                                .rate = point.samples_per_s,
                                                .memory_gb = point.memory_gb})));
  }
  section.blocks.emplace_back(Paragraph{words.text(messages::bench_front())});
  section.blocks.emplace_back(std::move(list));
  for (const auto& [title, answer] : named(*run.answers))
    if (*answer && !(*answer)->off_front.empty())
      section.blocks.emplace_back(Paragraph{plain_text(off_front_text(words, title, **answer))});
  return section;
}

Section method_section_of(const MessageRenderer& words, const BenchRun& run) {
  Section section{"method", "How it was measured", {}};
  Facts facts;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) facts.rows.emplace_back(key, plain_text(value));
  };
  add("Training step", run.request.job.kind + " " + run.request.job.target);
  add("Data", run.request.job.data_path);
  add("Runtime", run.request.job.runtime);
  add("Device", run.device + " (" + run.device_id + ")");
  std::set<schema::TrainingSettings> trained;
  for (const auto& trial : run.trials)
    if (trial.data == schema::DataMode::loader) trained.insert(trial.settings);
  add("Search",
      words.text(messages::bench_search({.search = run.request.search,
                                         .trials = static_cast<std::int64_t>(run.trials.size()),
                                         .trained = static_cast<std::int64_t>(trained.size()),
                                         .combinations = static_cast<std::int64_t>(run.request.space.size())})));
  add("Steps",
      words.text(messages::bench_steps({.steps = run.request.plan.steps, .warmup = run.request.plan.warmup_steps})));
  add("Identity", words.text(identity_of(run)));
  add("GPU%", words.text(busy_of(run)));
  for (const auto& origin : run.origins)
    add(origin.name, words.text(messages::bench_value_from({.value = origin.value, .origin = origin.origin})));
  add("Command", run.command_line);
  section.blocks.emplace_back(std::move(facts));
  return section;
}

}  // namespace

Message identity_of(const BenchRun& run) {
  double worst = 0;
  std::int64_t count = 0;
  for (const auto& trial : run.trials) {
    if (!trial.outcome.measurement) continue;
    worst = std::max(worst, std::abs(trial.outcome.measurement->identity_error));
    ++count;
  }
  if (count == 0) return {};
  // "0.0 %" would claim too much.
  return messages::bench_identity({.error = std::max(1.0, std::ceil(worst * 1000)) / 1000, .trials = count});
}

ReportModel build_bench_report(const MessageRenderer& words, const BenchRun& run) {
  ReportModel report;
  report.title = is_simulated(run) ? "Training benchmark (simulated): " : "Training benchmark: ";
  report.title += one_line(run.request.job.target.empty() ? run.request.job.kind : run.request.job.target);
  report.subtitle = one_line(fmt::format("{} · {} · run {}", run.device, run.started_utc.substr(0, 10), run.id));
  report.asked = bench_asked(words, run);
  report.answer = bench_answer_section(words, run);
  for (auto* build : {answer_section, findings_section_of, table_section, pareto_section, method_section_of}) {
    auto section = build(words, run);
    if (!section.blocks.empty()) report.sections.push_back(std::move(section));
  }
  report.footer =
      one_line(words.text(messages::made_by({.version = run.environment.ridgeline_version, .run = run.id})));
  return report;
}

namespace {

/// What each setting's trials give together: the numbers that the answers are chosen by.
Json points_json(const BenchRun& run) {
  auto out = Json::array();
  const auto among = [](const std::vector<schema::TrainingSettings>& list, const schema::TrainingSettings& settings) {
    return std::find(list.begin(), list.end(), settings) != list.end();
  };
  for (const auto& point : analysis::bench_points(run)) {
    Json one{{"settings", point.settings},
             {"trials", point.trials},
             {"samples_per_s", point.samples_per_s},
             {"low", point.low},
             {"high", point.high},
             {"memory_gb", nullptr},
             {"capacity_gb", nullptr},
             {"passed_stability_run", point.passed_stability_run},
             {"stability_steps", point.stability_steps},
             {"pareto", false},
             {"failed_stability_run", point.failed_stability_run},
             {"lost_loss", point.lost_loss},
             {"tie", false}};
    if (point.memory_gb) one["memory_gb"] = *point.memory_gb;
    if (point.capacity_gb) one["capacity_gb"] = *point.capacity_gb;
    if (run.answers) {
      one["eligible"] = analysis::eligible(point, run.answers->headroom);
      one["pareto"] = among(run.answers->pareto, point.settings);
      one["tie"] = among(run.answers->ties, point.settings);
    }
    out.push_back(std::move(one));
  }
  return out;
}

Json formulas() {
  return {
      {"order",
       "points are in the order in which their settings first succeeded; of points equal in all steps of a rule, the "
       "first is taken"},
      {"samples_per_s",
       "of a point (the trials of one setting with data=loader, status=ok and a rate above 0, stages stability_run and "
       "experiment left out): sum(rate * steps) / sum(steps), rate = outcome.measurement.samples_per_s.value, steps = "
       "max(1, outcome.measurement.steps)"},
      {"interval",
       "low, high = samples_per_s * (1 -+ spread), spread = the highest of its trials' (samples_per_s.high - "
       "samples_per_s.low) / 2 / samples_per_s.value"},
      {"memory",
       "memory_gb = the highest resources.peak_reserved_gb of its trials, capacity_gb = the last known "
       "resources.device_capacity_gb; null if no trial reports it"},
      {"stability_run",
       "failed_stability_run: some trial of the setting with stage=stability_run has a status other than ok, or "
       "alloc_retries above 0; passed_stability_run: some trial has neither; stability_steps = the highest steps + "
       "discarded_steps of those trials"},
      {"lost_loss",
       "some trial of the setting, stability runs counted, has the flag loss_not_finite: its last loss is NaN or "
       "infinite. Such points are left out of all answers, unless there are no others, and are never eligible"},
      {"gpu_busy",
       "share of the timed windows with work on the GPU, by device events or GPM (flag gpu_busy_gpm); the column GPU%"},
      {"gpu_util", "mean NVML utilisation; the column GPU% if gpu_busy is not known (flag gpu_busy_nvml)"},
      {"fastest", "argmax samples_per_s"},
      {"efficient", "argmax samples_per_s / memory_gb, of points whose memory_gb is known and above 0"},
      {"eligible",
       "neither failed_stability_run nor lost_loss, and memory_gb <= (1 - answers.headroom) * capacity_gb if both are "
       "known"},
      {"floor",
       "(1 - answers.tolerance) * max(samples_per_s); if no eligible point reaches it (answers.fallback): (1 - "
       "answers.tolerance) * max(samples_per_s of the eligible points)"},
      {"recommended",
       "of eligible points with samples_per_s >= answers.floor: the lowest floor(100 * ln(memory_gb) + 0.5) (steps of "
       "1 %; 0 if memory is not known), then the fewest workers, then pin_memory=false, then amp in the order off, "
       "bf16, fp16, then the highest samples_per_s; null with answers.no_recommendation if no point is eligible"},
      {"ties", "points other than the fastest whose high >= low of the fastest"},
      {"pareto",
       "no other point is at least as good in samples_per_s, memory_gb (if both are known) and workers, and better in "
       "one of them; an answer that is not on the front has the reason in off_front"}};
}

}  // namespace

base::Json bench_json(const MessageRenderer& words, const BenchRun& run) {
  auto out = with_words(words, run);
  if (!run.has_current) out.erase("current");  // nobody gave it
  out["schema"] = "ridgeline.bench";
  out["schema_version"] = kBenchJsonVersion;
  out["simulated"] = is_simulated(run);
  out["points"] = points_json(run);
  out["formulas"] = formulas();
  return out;
}

std::vector<std::pair<std::string, std::string>> bench_summary(const MessageRenderer& words, const BenchRun& run) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (run.answers) {
    for (const auto& [title, answer] : named(*run.answers))
      if (*answer) lines.emplace_back(title, words.text(bench_answer_of(run, **answer)));
    if (run.answers->recommended)
      lines.emplace_back("", words.text(run.answers->recommended->reason));
    else if (!run.answers->no_recommendation.empty())
      lines.emplace_back("Recommended", words.text(messages::bench_nothing(run.answers->no_recommendation)));
    if (!run.answers->ties.empty())
      lines.emplace_back("Ties",
                         words.text(messages::bench_ties_counted(static_cast<std::int64_t>(run.answers->ties.size()))));
    std::vector<std::string> front;
    for (const auto& settings : run.answers->pareto) front.push_back(schema::describe(settings, run.device));
    if (!front.empty()) lines.emplace_back("Pareto front", fmt::format("{}", fmt::join(front, "; ")));
    for (const auto& [title, answer] : named(*run.answers))
      if (*answer && !(*answer)->off_front.empty()) lines.emplace_back("", off_front_text(words, title, **answer));
  }
  for (const auto& finding : run.findings) {
    lines.emplace_back(finding.code,
                       words.text(messages::bench_finding_under(
                           {.title = finding.title, .settings = schema::describe(finding.settings, run.device)})));
    lines.emplace_back("", words.text(finding.evidence));
    lines.emplace_back(
        "", words.text(messages::bench_finding_advice({.advice = finding.advice, .gain = finding.predicted_gain})));
  }
  for (const auto& note : run.notes) lines.emplace_back("Note", words.text(note));
  if (const auto identity = identity_of(run); !identity.empty()) lines.emplace_back("Identity", words.text(identity));
  if (const auto busy = busy_of(run); !busy.empty()) lines.emplace_back("GPU%", words.text(busy));
  return lines;
}

}  // namespace ridgeline::report
