// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/sweep_answers.hpp"
#include "base/text.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sweep_answer.hpp"
#include "report/sweep_table.hpp"
#include "report/utf8.hpp"
#include "schema/sweep_metric.hpp"

namespace ridgeline::report {
namespace {

using base::Json;
using schema::Message;
using schema::MessageRenderer;
using schema::SweepPoint;
using schema::SweepRun;
using schema::SweepSummary;

constexpr std::size_t kMostFailures = 12;

/// The very first trial pays for cold caches, which widens every interval.
Message cold_start_note(const SweepRun& run) {
  constexpr double kWorthTelling = 1.05;
  if (run.trials.empty() || run.trials.front().stage != schema::SweepStage::search) return {};
  if (analysis::compares_differences(run)) return {};
  const auto& first = run.trials.front();
  const auto cost = analysis::sweep_cost(first.outcome, run.request.objective);
  double slowest = 0;
  int others = 0;
  for (const auto& trial : run.trials) {
    if (trial.point != first.point || trial.repeat == first.repeat) continue;
    const auto other = analysis::sweep_cost(trial.outcome, run.request.objective);
    if (!other) continue;
    slowest = std::max(slowest, *other);
    ++others;
  }
  if (!cost || others < 2 || *cost < slowest * kWorthTelling) return {};
  return messages::sweep_cold_start(*cost / slowest - 1);
}

std::vector<std::string> ties_of(const MessageRenderer& words, const SweepRun& run) {
  std::vector<std::string> out;
  for (const auto& point : run.points)
    if (point.tie && run.answers && point.point != run.answers->best)
      out.push_back(sweep_point_name(words, run, point.point));
  return out;
}

Section answer_section(const MessageRenderer& words, const SweepRun& run) {
  Section section{"answer", "Answer", {}};
  if (!run.answers) {
    section.blocks.emplace_back(Callout{Tone::warning, "No answer", words.text(messages::sweep_no_answer())});
  } else {
    Facts facts;
    for (const auto& [label, text] : sweep_summary(words, run))
      if (!label.empty()) facts.rows.emplace_back(label, plain_text(text));
    section.blocks.emplace_back(Callout{Tone::good,
                                        "Recommended: " + sweep_point_name(words, run, run.answers->recommended),
                                        sentence(plain_text(words.text(run.answers->reason)))});
    section.blocks.emplace_back(std::move(facts));
  }
  if (!run.interruption.empty())
    section.blocks.emplace_back(
        Callout{Tone::warning, "The run ended early", sentence(plain_text(words.text(run.interruption)))});
  return section;
}

/// As many as the most exact of the values is written with.
int decimals_of(const std::vector<std::string>& values) {
  constexpr std::size_t kMost = 6;
  std::size_t most = 0;
  for (const auto& value : values) {
    const auto point = value.find('.');
    if (value.find_first_of("eE") != std::string::npos) most = kMost;
    if (point != std::string::npos) most = std::max(most, value.size() - point - 1);
  }
  return static_cast<int>(std::min(most, kMost));
}

/// The objective over the first parameter whose values are numbers, a line for each combination of the others.
std::optional<Chart> objective_chart(const MessageRenderer& words, const SweepRun& run) {
  const auto axis =
      std::find_if(run.request.job.parameters.begin(), run.request.job.parameters.end(), [](const auto& param) {
        return param.values.size() > 1 && std::all_of(param.values.begin(), param.values.end(), [](const auto& value) {
                 return base::parse_number(value, "value").has_value();
               });
      });
  if (axis == run.request.job.parameters.end()) return std::nullopt;
  std::map<std::string, std::map<double, const SweepSummary*>> lines;
  for (const auto& point : run.points) {
    if (point.trials.empty()) continue;
    auto others = point.point;
    others.erase(axis->name);
    lines[schema::point_text(others, run.request.job.parameters)]
         [base::parse_number(point.point.at(axis->name), "value").value_or(0)] = &point;
  }
  auto series = Json::array();
  std::size_t index = 0;
  double largest = 0;
  for (const auto& [name, by_value] : lines) {
    auto line = Json::array();
    auto marks = Json::array();
    for (const auto& [value, point] : by_value) {
      const auto place = Json::array({rounded(value), rounded(point->objective.value)});
      line.push_back(place);
      largest = std::max(largest, point->objective.value);
      marks.push_back(datum(place,
                            Json::array({sweep_point_name(words, run, point->point), sweep_estimate(point->objective)}),
                            point->trials.front(), point->objective.low, point->objective.high));
    }
    const auto role = fmt::format("series-{}", 1 + index++ % 4);
    const auto title = name.empty() ? run.request.objective.metric : name;
    if (line.size() > 1)
      series.push_back(
          {{"type", "line"}, {"name", title}, {"role", role}, {"symbol", "none"}, {"data", std::move(line)}});
    series.push_back({{"type", "scatter"}, {"name", title}, {"role", role}, {"data", std::move(marks)}});
  }
  Chart chart;
  chart.id = "objective";
  chart.title = fmt::format("{} over {}", one_line(run.request.objective.metric), one_line(axis->name));
  chart.option = {{"series", std::move(series)},
                  {"xAxis", value_axis(one_line(axis->name), decimals_of(axis->values))},
                  {"yAxis", value_axis(one_line(run.request.objective.metric), largest >= 100 ? 0
                                                                               : largest >= 1 ? 2
                                                                                              : 4)}};
  chart.alternative = plain_text(words.text(
      messages::sweep_best_of_chart(run.answers ? sweep_answer_of(words, run, run.answers->best) : Message())));
  return chart;
}

Section points_section(const MessageRenderer& words, const SweepRun& run) {
  Section section{"combinations", "Combinations", {}};
  if (run.points.size() > 1)
    if (auto chart = objective_chart(words, run)) section.blocks.emplace_back(std::move(*chart));
  auto table = sweep_points_table(run);
  table.caption = words.text(messages::sweep_points_caption(analysis::compares_differences(run)));
  for (auto& row : table.rows)
    for (auto& cell : row.cells) cell = plain_text(cell);
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section effects_section_of(const MessageRenderer& words, const SweepRun& run) {
  Section section{"effects", "Effect of each parameter", {}};
  if (!run.answers || run.answers->effects.empty()) return section;
  Table table;
  const bool differences = analysis::compares_differences(run);
  table.caption = words.text(messages::sweep_effects_caption(differences));
  table.columns = {{"Parameter", Align::left},
                   {"Value", Align::left},
                   {differences ? "Behind the best value" : "Relative cost", Align::right}};
  for (const auto& effect : run.answers->effects)
    for (const auto& [value, cost] : effect.values) {
      Table::Row row;
      row.cells = {plain_text(effect.name), plain_text(value),
                   differences ? sweep_number(cost) : fmt::format("{:.3f}", cost)};
      if (cost <= (differences ? 0 : 1)) row.tone = Tone::good;
      table.rows.push_back(std::move(row));
    }
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section trials_section_of(const MessageRenderer& words, const SweepRun& run) {
  Section section{"trials", "Trials", {}};
  Table table;
  table.caption = words.text(messages::sweep_in_order());
  table.columns = sweep_columns(run);
  for (const auto& trial : run.trials) {
    auto row = sweep_row(words, run, trial);
    for (auto& cell : row.cells) cell = plain_text(cell);
    table.rows.push_back(std::move(row));
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section failures_section_of(const MessageRenderer& words, const SweepRun& run) {
  Section section{"failures", "Failures", {}};
  std::size_t shown = 0;
  std::size_t all = 0;
  for (const auto& trial : run.trials) {
    const auto& failure = trial.outcome.failure;
    if (!failure || ++all > kMostFailures) continue;
    ++shown;
    section.blocks.emplace_back(Paragraph{fmt::format("{} ({}): {}", trial_link(trial.id),
                                                      plain_text(sweep_point_name(words, run, trial.point)),
                                                      plain_text(sweep_status(words, trial)))});
    if (!failure->stderr_tail.empty()) section.blocks.emplace_back(CodeBlock{"", clean_utf8(failure->stderr_tail)});
    if (!trial.outcome.folder.empty())
      section.blocks.emplace_back(Paragraph{"Full output: " + code_mark(trial.outcome.folder + "/output.log")});
  }
  if (all > shown)
    section.blocks.emplace_back(
        Paragraph{words.text(messages::sweep_more_failures(static_cast<std::int64_t>(all - shown)))});
  return section;
}

Section method_section_of(const MessageRenderer& words, const SweepRun& run) {
  Section section{"method", "How it was measured", {}};
  Facts facts;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) facts.rows.emplace_back(key, plain_text(value));
  };
  add("Command", fmt::format("{}", fmt::join(run.request.job.command, " ")));
  for (const auto& [name, value] : run.request.job.environment) add("Environment", name + "=" + value);
  for (const auto& param : run.request.job.parameters)
    add("Parameter", fmt::format("{} = {}", param.name, fmt::join(param.values, ", ")));
  add("Objective", run.request.objective.to_text());
  for (const auto& metric : run.request.job.metrics) add("Metric", metric.name + ": " + schema::describe(metric));
  add("Metric file", run.request.job.metric_file);
  add("Search", words.text(messages::sweep_search({.search = run.request.search,
                                                   .tried = static_cast<std::int64_t>(run.points.size()),
                                                   .combinations = run.space_size,
                                                   .rounds = run.request.repeats})));
  if (run.request.job.timeout_s > 0) add("Timeout", words.text(messages::sweep_timeout(run.request.job.timeout_s)));
  add("Tie", words.text(analysis::compares_differences(run)
                            ? messages::sweep_tie_by_difference(
                                  {.min_effect = run.request.min_effect, .tolerance = run.request.tolerance})
                            : messages::sweep_tie_by_share(
                                  {.min_effect = run.request.min_effect, .tolerance = run.request.tolerance})));
  add("Machine", run.environment.cpu_model);
  add("Device", run.device_id);
  add("Folder", run.request.job.directory);
  add("Outputs", run.folder);
  for (const auto& note : run.notes) add("Note", words.text(note));
  add("Command line", run.command_line);
  section.blocks.emplace_back(std::move(facts));
  return section;
}

}  // namespace

ReportModel build_sweep_report(const MessageRenderer& words, const SweepRun& run) {
  ReportModel report;
  report.title = "Sweep: " + shorten(one_line(fmt::format("{}", fmt::join(run.request.job.command, " "))), 80);
  report.subtitle =
      one_line(fmt::format("{} · {} · run {}", run.request.objective.to_text(), run.started_utc.substr(0, 10), run.id));
  report.asked = sweep_asked(words, run);
  report.answer = sweep_answer_section(words, run);
  for (auto* build : {answer_section, points_section, effects_section_of, trials_section_of, failures_section_of,
                      method_section_of}) {
    auto section = build(words, run);
    if (!section.blocks.empty()) report.sections.push_back(std::move(section));
  }
  report.footer =
      one_line(words.text(messages::made_by({.version = run.environment.ridgeline_version, .run = run.id})));
  return report;
}

base::Json sweep_json(const MessageRenderer& words, const SweepRun& run) {
  auto out = with_words(words, run);
  out["schema"] = "ridgeline.sweep";
  out["schema_version"] = kSweepJsonVersion;
  out["formulas"] = {
      {"cost", "objective.metric of an ok trial, or 1 / it if higher is better; warm-ups do not count"},
      {"objective", "of a point: mean over its ok trials; interval by Student's t over them"},
      {"behind",
       "exp(mean over common rounds of log cost - log cost of the best); the best has the lowest mean log cost among "
       "points without failures that were measured in every round any point has; interval by the residual variance of "
       "log cost = point + round (or the pair's own if larger), t with Bonferroni's correction"},
      {"tie", "behind.low <= 1, or behind.value < 1 + min_effect"},
      {"gain", "behind of the first combination over behind of the recommended one"},
      {"recommended", "the lowest rank_in_lists among ties with behind.value <= 1 + tolerance"}};
  if (analysis::compares_differences(run)) {
    out["compared_by"] = "difference";
    out["formulas"]["compared_by"] =
        "difference, because objective.metric of some trial is 0 or below: the cost is the number itself, or its "
        "negative if higher is better, and exp, log, ratios and 1 become differences and 0";
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> sweep_summary(const MessageRenderer& words, const SweepRun& run) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (!run.answers) return lines;
  lines.emplace_back("Best", words.text(sweep_answer_of(words, run, run.answers->best)));
  lines.emplace_back("Recommended", words.text(sweep_answer_of(words, run, run.answers->recommended)));
  lines.emplace_back("", words.text(run.answers->reason));
  if (const auto gain = sweep_gain(run); !gain.empty()) lines.emplace_back("Gain", words.text(gain));
  if (const auto ties = ties_of(words, run); !ties.empty())
    lines.emplace_back("Ties", words.text(messages::sweep_ties(ties)));
  if (const auto note = cold_start_note(run); !note.empty()) lines.emplace_back("Note", words.text(note));
  return lines;
}

}  // namespace ridgeline::report
