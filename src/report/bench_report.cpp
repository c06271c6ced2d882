// SPDX-License-Identifier: Apache-2.0
#include "report/bench_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/bench_answers.hpp"
#include "analysis/comparison_text.hpp"
#include "report/bench_table.hpp"
#include "report/busy_share.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/simulated.hpp"
#include "report/utf8.hpp"
#include "stats/interval.hpp"

namespace ridgeline::report {
namespace {

using base::Json;
using schema::BenchAnswer;
using schema::BenchRun;

std::string rate_text(double rate) { return rate >= 1000 ? fmt::format("{:.0f}", rate) : fmt::format("{:.4g}", rate); }

std::string answer_text(const BenchRun& run, const BenchAnswer& answer) {
  auto out = fmt::format("{}: {} samples/s ({}–{})", schema::describe(answer.settings, run.device),
                         rate_text(answer.samples_per_s), rate_text(answer.low), rate_text(answer.high));
  if (stats::is_too_wide(answer.low, answer.high)) out += fmt::format(", {} to rely on", analysis::kTooFewMeasurements);
  if (answer.memory_gb) out += fmt::format(", {:.2f} GB", *answer.memory_gb);
  return out;
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

std::string off_front_text(const std::string& title, const BenchAnswer& answer) {
  return fmt::format("{} is not on the Pareto front: {}.", title, answer.off_front);
}

Section answer_section(const BenchRun& run) {
  Section section{"answer", "Answer", {}};
  if (!run.answers) {
    section.blocks.emplace_back(Callout{
        Tone::warning, "No answer",
        run.interruption.empty() ? "No trial with the loader went well: see the table for the causes."
                                 : "The run ended before a trial with the loader went well; give it more time."});
    return section;
  }
  KeyFigures figures;
  Facts facts;
  for (const auto& [title, answer] : named(*run.answers)) {
    if (!*answer) continue;
    figures.figures.push_back({title, rate_text((*answer)->samples_per_s) + " samples/s",
                               schema::describe((*answer)->settings, run.device),
                               std::string_view(title) == "Recommended" ? Tone::good : Tone::neutral});
    facts.rows.emplace_back(title, plain_text(answer_text(run, **answer) + "; " + (*answer)->reason));
  }
  facts.rows.emplace_back("Tolerance",
                          fmt::format("settings within {} of the fastest count as good, by their mean rates",
                                      percent(run.answers->tolerance)));
  section.blocks.emplace_back(std::move(figures));
  section.blocks.emplace_back(std::move(facts));
  if (!run.answers->no_recommendation.empty())
    section.blocks.emplace_back(
        Callout{Tone::warning, "Nothing to recommend", sentence(plain_text(run.answers->no_recommendation))});
  if (!run.answers->ties.empty()) {
    std::vector<std::string> words;
    for (const auto& settings : run.answers->ties) words.push_back("`" + schema::describe(settings, run.device) + "`");
    section.blocks.emplace_back(Paragraph{"Cannot be distinguished from the fastest: " + base::listed(words) + "."});
  }
  if (!run.interruption.empty())
    section.blocks.emplace_back(Callout{Tone::warning, "The run ended early", sentence(plain_text(run.interruption))});
  return section;
}

Section findings_section_of(const BenchRun& run) {
  Section section{"findings", "What holds training back", {}};
  for (const auto& finding : run.findings) {
    auto text = fmt::format("Under {}: {}. ", schema::describe(finding.settings, run.device), finding.evidence);
    if (finding.predicted_gain) text += fmt::format("Predicted gain: {:+.0f} %. ", *finding.predicted_gain * 100);
    text += "Change: " + finding.advice + ".";
    section.blocks.emplace_back(
        Callout{finding.predicted_gain ? Tone::warning : Tone::neutral, finding.title, plain_text(text)});
  }
  BulletList notes;
  for (const auto& note : run.notes) notes.items.push_back(plain_text(note));
  if (!notes.items.empty()) section.blocks.emplace_back(std::move(notes));
  return section;
}

/// Samples/s over batch, one line for each number of workers at the best of its precisions and pinnings.
Chart throughput_chart(const BenchRun& run, const std::vector<analysis::BenchPoint>& points) {
  Chart chart;
  chart.id = "throughput";
  chart.title = "Samples/s over batch size, by loader workers";
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
          place,
          Json::array({schema::describe(point->settings, run.device), rate_text(point->samples_per_s) + " samples/s"}),
          point->trials.front()));
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
  chart.alternative = run.answers && run.answers->fastest ? "Highest: " + answer_text(run, *run.answers->fastest) + "."
                                                          : "No trial went well.";
  return chart;
}

Chart memory_chart(const BenchRun& run, const std::vector<analysis::BenchPoint>& points) {
  Chart chart;
  chart.id = "memory";
  chart.title = "Samples/s over peak reserved memory: up and to the left is better";
  auto others = Json::array();
  auto front = Json::array();
  for (const auto& point : points) {
    if (!point.memory_gb) continue;
    const auto place = Json::array({rounded(*point.memory_gb), rounded(point.samples_per_s)});
    const bool pareto = run.answers && std::find(run.answers->pareto.begin(), run.answers->pareto.end(),
                                                 point.settings) != run.answers->pareto.end();
    (pareto ? front : others)
        .push_back(datum(
            place,
            Json::array({schema::describe(point.settings, run.device), rate_text(point.samples_per_s) + " samples/s"}),
            point.trials.front()));
  }
  chart.option = {
      {"xAxis", value_axis("Peak reserved memory, GB", 1)},
      {"yAxis", value_axis("Samples/s", 0)},
      {"series",
       Json::array({Json{{"type", "scatter"}, {"name", "Pareto front"}, {"role", "best"}, {"data", std::move(front)}},
                    Json{{"type", "scatter"}, {"name", "Others"}, {"role", "other"}, {"data", std::move(others)}}})}};
  chart.alternative = run.answers && run.answers->efficient
                          ? "Most samples/s per GB: " + answer_text(run, *run.answers->efficient) + "."
                          : "Memory is not known.";
  return chart;
}

Section table_section(const schema::MessageRenderer& words, const BenchRun& run) {
  Section section{"trials", "Trials", {}};
  const auto points = analysis::bench_points(run);
  if (points.size() > 1) {
    section.blocks.emplace_back(throughput_chart(run, points));
    if (std::count_if(points.begin(), points.end(), [](const auto& point) { return point.memory_gb.has_value(); }) > 1)
      section.blocks.emplace_back(memory_chart(run, points));
  }
  Table table;
  table.caption = "Medians over the timed steps; samples/s with half its 95 % interval.";
  const bool beside = shows_nvml_beside(run);
  table.columns.push_back({"#", Align::right});
  for (const auto& column : bench_columns()) {
    table.columns.push_back(column);
    if (beside && column.title == kBusyColumn) table.columns.push_back({"NVML%", Align::right});
  }
  for (const auto& trial : run.trials) {
    auto row = bench_row(words, trial);
    if (const auto steps = analysis::cut_stability_run(trial); !steps.empty()) row.cells.back() += ", " + steps;
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
      list.items.push_back(
          plain_text(fmt::format("not run: {}: {}", schema::describe(skipped.settings, run.device), skipped.reason)));
    section.blocks.emplace_back(std::move(list));
  }
  return section;
}

Section pareto_section(const BenchRun& run) {
  Section section{"pareto", "Pareto front", {}};
  if (!run.answers || run.answers->pareto.empty()) return section;
  BulletList list;
  for (const auto& point : analysis::bench_points(run)) {
    if (std::find(run.answers->pareto.begin(), run.answers->pareto.end(), point.settings) == run.answers->pareto.end())
      continue;
    list.items.push_back(fmt::format("`{}`: {} samples/s{}", schema::describe(point.settings, run.device),
                                     rate_text(point.samples_per_s),
                                     point.memory_gb ? fmt::format(", {:.2f} GB", *point.memory_gb) : ""));
  }
  section.blocks.emplace_back(Paragraph{"Not beaten in samples/s, memory and workers at once:"});
  section.blocks.emplace_back(std::move(list));
  for (const auto& [title, answer] : named(*run.answers))
    if (*answer && !(*answer)->off_front.empty())
      section.blocks.emplace_back(Paragraph{plain_text(off_front_text(title, **answer))});
  return section;
}

Section method_section_of(const schema::MessageRenderer& words, const BenchRun& run) {
  Section section{"method", "How it was measured", {}};
  Facts facts;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) facts.rows.emplace_back(key, plain_text(value));
  };
  add("Training step", run.job.kind + " " + run.job.target);
  add("Data", run.job.data_path);
  add("Runtime", run.job.runtime);
  add("Device", run.device + " (" + run.device_id + ")");
  std::set<schema::TrainingSettings> trained;
  for (const auto& trial : run.trials)
    if (trial.data == schema::DataMode::loader) trained.insert(trial.settings);
  add("Search", fmt::format("{}, {}; {} of {} trained in full", run.search, counted(run.trials.size(), "trial"),
                            trained.size(), counted(run.space.size(), "combination")));
  add("Steps",
      fmt::format("at least {} timed after at least {} of warm-up; the device is waited for at a window's ends only",
                  run.plan.steps, run.plan.warmup_steps));
  add("Identity", identity_line(run));
  add("GPU%", busy_line(words, run));
  for (const auto& origin : run.origins) add(origin.name, fmt::format("{} ({})", origin.value, origin.origin));
  add("Command", run.command_line);
  section.blocks.emplace_back(std::move(facts));
  return section;
}

}  // namespace

std::string identity_line(const BenchRun& run) {
  double worst = 0;
  int count = 0;
  for (const auto& trial : run.trials) {
    if (!trial.outcome.measurement) continue;
    worst = std::max(worst, std::abs(trial.outcome.measurement->identity_error));
    ++count;
  }
  if (count == 0) return {};
  return fmt::format("phases add up to the wall time within {:.1f} % (worst of {} trials)",
                     std::max(0.1, std::ceil(worst * 1000) / 10), count);  // "0.0 %" would claim too much
}

ReportModel build_bench_report(const schema::MessageRenderer& words, const BenchRun& run) {
  ReportModel report;
  report.title = is_simulated(run) ? "Training benchmark (simulated): " : "Training benchmark: ";
  report.title += one_line(run.job.target.empty() ? run.job.kind : run.job.target);
  report.subtitle = one_line(fmt::format("{} · {} · run {}", run.device, run.started_utc.substr(0, 10), run.id));
  for (auto& section : {answer_section(run), findings_section_of(run), table_section(words, run), pareto_section(run),
                        method_section_of(words, run)})
    if (!section.blocks.empty()) report.sections.push_back(section);
  report.footer = one_line(
      fmt::format("Made by Ridgeline {} from the records of run {}.", run.environment.ridgeline_version, run.id));
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
       "points stand in the order in which their settings first went well; of points equal in all steps of a "
       "rule the first is taken"},
      {"samples_per_s",
       "of a point (the trials of one setting with data=loader, status=ok and a rate above 0, stages stability_run and "
       "experiment left out): sum(rate * steps) / sum(steps), rate = outcome.measurement.samples_per_s.value, steps = "
       "max(1, outcome.measurement.steps)"},
      {"interval",
       "low, high = samples_per_s * (1 -+ spread), spread = the highest of its trials' (samples_per_s.high - "
       "samples_per_s.low) / 2 / samples_per_s.value"},
      {"memory",
       "memory_gb = the highest resources.peak_reserved_gb of its trials, capacity_gb = the last known "
       "resources.device_capacity_gb; null where no trial reports it"},
      {"stability_run",
       "failed_stability_run: some trial of the setting with stage=stability_run has another status than ok or "
       "alloc_retries above 0; "
       "passed_stability_run: some has not; stability_steps = the highest steps + discarded_steps of those"},
      {"gpu_busy",
       "share of the timed windows with work on the GPU, by device events or GPM (flag gpu_busy_gpm); the column GPU%"},
      {"gpu_util", "NVML's utilisation in the mean; the column GPU% where gpu_busy is not known (flag gpu_busy_nvml)"},
      {"fastest", "argmax samples_per_s"},
      {"efficient", "argmax samples_per_s / memory_gb, of points whose memory_gb is known and above 0"},
      {"eligible",
       "not failed_stability_run, and memory_gb <= (1 - answers.headroom) * capacity_gb where both are known"},
      {"floor",
       "(1 - answers.tolerance) * max(samples_per_s); where that of no eligible point reaches it (answers.fallback): "
       "(1 - answers.tolerance) * max(samples_per_s of the eligible points)"},
      {"recommended",
       "of eligible points with samples_per_s >= answers.floor: the lowest floor(100 * ln(memory_gb) + 0.5) (0 where "
       "memory is not known: steps of 1 %), then the fewest workers, then pin_memory=false, then amp in the order off, "
       "bf16, fp16, then the highest samples_per_s; null with answers.no_recommendation where no point is eligible"},
      {"ties", "points other than the fastest whose high >= low of the fastest"},
      {"pareto",
       "no other point is at least as good in samples_per_s, memory_gb (where both are known) and workers and better "
       "in one; an answer that is not on it says why (off_front)"}};
}

}  // namespace

base::Json bench_json(const schema::MessageRenderer& words, const BenchRun& run) {
  Json out = schema::with_words(words, run);
  if (!run.has_current) out.erase("current");  // nobody gave it
  out["schema"] = "ridgeline.bench";
  out["schema_version"] = kBenchJsonVersion;
  out["simulated"] = is_simulated(run);
  out["points"] = points_json(run);
  out["formulas"] = formulas();
  return out;
}

std::vector<std::pair<std::string, std::string>> bench_summary(const schema::MessageRenderer& words,
                                                               const BenchRun& run) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (run.answers) {
    for (const auto& [title, answer] : named(*run.answers))
      if (*answer) lines.emplace_back(title, answer_text(run, **answer));
    if (run.answers->recommended)
      lines.emplace_back("", run.answers->recommended->reason);
    else if (!run.answers->no_recommendation.empty())
      lines.emplace_back("Recommended", "nothing: " + run.answers->no_recommendation);
    if (!run.answers->ties.empty())
      lines.emplace_back("Ties", fmt::format("{} of the settings measured cannot be distinguished from the fastest",
                                             run.answers->ties.size()));
    std::vector<std::string> front;
    for (const auto& settings : run.answers->pareto) front.push_back(schema::describe(settings, run.device));
    if (!front.empty()) lines.emplace_back("Pareto front", fmt::format("{}", fmt::join(front, "; ")));
    for (const auto& [title, answer] : named(*run.answers))
      if (*answer && !(*answer)->off_front.empty()) lines.emplace_back("", off_front_text(title, **answer));
  }
  for (const auto& finding : run.findings) {
    lines.emplace_back(finding.code,
                       fmt::format("{} (under {})", finding.title, schema::describe(finding.settings, run.device)));
    lines.emplace_back("", finding.evidence);
    const auto gain = finding.predicted_gain ? fmt::format("; predicted gain {:+.0f} %", *finding.predicted_gain * 100)
                                             : std::string();
    lines.emplace_back("", finding.advice + gain);
  }
  for (const auto& note : run.notes) lines.emplace_back("Note", note);
  if (auto identity = identity_line(run); !identity.empty()) lines.emplace_back("Identity", std::move(identity));
  if (auto busy = busy_line(words, run); !busy.empty()) lines.emplace_back("GPU%", std::move(busy));
  return lines;
}

}  // namespace ridgeline::report
