// SPDX-License-Identifier: Apache-2.0
#include "report/bench_answer.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/bench_answers.hpp"
#include "report/bench_table.hpp"
#include "report/failed_trials.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/simulated.hpp"
#include "report/sweep_table.hpp"
#include "report/utf8.hpp"
#include "stats/interval.hpp"

namespace ridgeline::report {
namespace {

using schema::BenchRun;
using schema::Message;
using schema::MessageRenderer;

constexpr std::size_t kBenchRows = 5;
constexpr std::size_t kBenchLimits = 2;

/// As it was named on the command line.
std::string target_of(const BenchRun& run) {
  const auto& job = run.request.job;
  if (job.target.empty()) return job.kind;
  return job.kind == "synthetic" ? "synthetic:" + job.target : job.target;
}

/// Combinations of what was to be tried. Experiments, bisected batches and the current settings may lie outside.
std::int64_t combinations_trained(const BenchRun& run) {
  const auto has = [](const auto& values, const auto& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  const auto& space = run.request.space;
  std::set<schema::TrainingSettings> trained;
  for (const auto& trial : run.trials) {
    const auto& settings = trial.settings;
    if (trial.data == schema::DataMode::loader && has(space.batches, settings.batch) &&
        has(space.workers, settings.workers) && has(space.amps, settings.amp) && has(space.pins, settings.pin_memory))
      trained.insert(settings);
  }
  return std::ssize(trained);
}

Callout verdict(const MessageRenderer& words, const BenchRun& run) {
  if (!run.answers)
    return {Tone::warning, "No answer", words.text(messages::bench_no_answer(!run.interruption.empty()))};
  const auto& answers = *run.answers;
  if (!answers.recommended)
    return {Tone::warning, "Nothing to recommend", sentence(plain_text(words.text(answers.no_recommendation)))};
  return {Tone::good, plain_text("Recommended: " + words.text(bench_answer_of(run, *answers.recommended))),
          sentence(plain_text(words.text(answers.recommended->reason)))};
}

/// The causes whose removal is predicted to gain most, in a line each.
BulletList limits(const MessageRenderer& words, const BenchRun& run) {
  std::vector<const schema::BenchFinding*> findings;
  for (const auto& finding : run.findings) findings.push_back(&finding);
  std::stable_sort(findings.begin(), findings.end(), [](const auto* a, const auto* b) {
    return a->predicted_gain.value_or(-1) > b->predicted_gain.value_or(-1);
  });
  BulletList list;
  for (const auto* finding : findings) {
    if (list.items.size() == kBenchLimits) break;
    list.items.push_back(plain_text(words.text(
        messages::bench_limit({.title = finding->title, .advice = finding->advice, .gain = finding->predicted_gain}))));
  }
  return list;
}

std::optional<Paragraph> failures(const MessageRenderer& words, const BenchRun& run) {
  std::vector<std::string> causes;
  for (const auto& trial : run.trials)
    if (trial.outcome.status != schema::TrialStatus::ok) causes.push_back(bench_status(words, trial));
  return failed_trials(words, causes, run.trials.size());
}

/// Without the settings that all rows share: the verdict names them.
void drop_shared_settings(Table& table) {
  constexpr std::size_t kSettings = 4;
  if (table.rows.size() < 2) return;
  for (std::size_t at = kSettings; at-- > 0;) {
    const auto& first = table.rows.front().cells[at];
    if (std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return row.cells[at] != first; }))
      continue;
    const auto offset = static_cast<std::ptrdiff_t>(at);
    table.columns.erase(table.columns.begin() + offset);
    for (auto& row : table.rows) row.cells.erase(row.cells.begin() + offset);
  }
}

/// The recommended setting, the fastest, the most efficient and the next fastest, the fastest first.
Table fastest_points(const BenchRun& run) {
  Table table{"",
              {{"Batch", Align::right},
               {"Workers", Align::right},
               {"AMP"},
               {"Pin"},
               {"Samples/s", Align::right},
               {"95 % interval", Align::right, true},
               {"Memory", Align::right},
               {"Answer"}},
              {}};
  if (!run.answers) return table;
  auto points = analysis::bench_points(run);
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.samples_per_s > b.samples_per_s; });
  const auto name_of = [&](const schema::TrainingSettings& settings) {
    std::vector<std::string> names;
    const auto add = [&](const std::optional<schema::BenchAnswer>& answer, const char* name) {
      if (answer && answer->settings == settings) names.emplace_back(name);
    };
    add(run.answers->recommended, "recommended");
    add(run.answers->fastest, "highest throughput");
    add(run.answers->efficient, "best efficiency");
    if (run.has_current && run.current == settings) names.emplace_back("in use now");
    return fmt::format("{}", fmt::join(names, ", "));
  };
  std::size_t named = 0;
  for (const auto& point : points) named += name_of(point.settings).empty() ? 0 : 1;
  auto room = kBenchRows - std::min(kBenchRows, named);
  for (const auto& point : points) {
    auto name = name_of(point.settings);
    if (name.empty() && (room == 0 || room-- == 0)) continue;
    const bool few = stats::is_too_wide(point.low, point.high);
    const bool recommended = run.answers->recommended && run.answers->recommended->settings == point.settings;
    const auto& settings = point.settings;
    table.rows.push_back(
        {{fmt::format("{}", settings.batch), fmt::format("{}", settings.workers),
          std::string(base::enum_name(settings.amp)), settings.pin_memory ? "on" : "off",
          sweep_number(point.samples_per_s),
          few ? std::string(kAbsent) : fmt::format("{}–{}", sweep_number(point.low), sweep_number(point.high)),
          point.memory_gb ? fmt::format("{:.2f} GB", *point.memory_gb) : std::string(kAbsent), std::move(name)},
         recommended ? Tone::good : Tone::neutral,
         ""});
  }
  drop_shared_settings(table);
  return table;
}

}  // namespace

Message bench_answer_of(const BenchRun& run, const schema::BenchAnswer& answer) {
  return messages::bench_answer({.settings = schema::describe(answer.settings, run.device),
                                 .rate = answer.samples_per_s,
                                 .low = answer.low,
                                 .high = answer.high,
                                 .few = stats::is_too_wide(answer.low, answer.high),
                                 .memory_gb = answer.memory_gb});
}

std::string bench_asked(const MessageRenderer& words, const BenchRun& run) {
  return one_line(words.text(messages::bench_asked({.target = target_of(run),
                                                    .device = run.device,
                                                    .trained = combinations_trained(run),
                                                    .combinations = static_cast<std::int64_t>(run.request.space.size()),
                                                    .time = run.duration_s * 1e9,
                                                    .simulated = is_simulated(run)})));
}

Section bench_answer_section(const MessageRenderer& words, const BenchRun& run) {
  Section section{"answer", "", {}};
  section.blocks.emplace_back(verdict(words, run));
  if (run.answers && run.answers->recommended && !run.interrupted)
    section.blocks.emplace_back(Paragraph{words.text(messages::next_apply(run.id))});
  if (auto list = limits(words, run); !list.items.empty()) section.blocks.emplace_back(std::move(list));
  if (auto failed = failures(words, run)) section.blocks.emplace_back(std::move(*failed));
  if (auto table = fastest_points(run); !table.rows.empty()) section.blocks.emplace_back(std::move(table));
  std::string left_out;
  if (!run.interruption.empty()) left_out = sentence(plain_text(words.text(run.interruption)));
  if (!run.skipped.empty())
    left_out += (left_out.empty() ? "" : " ") +
                sentence(words.text(messages::bench_skipped(
                    {.settings = std::ssize(run.skipped), .reason = run.skipped.front().reason})));
  if (!left_out.empty()) section.blocks.emplace_back(Paragraph{std::move(left_out)});
  BulletList notes;
  for (const auto& note : words.texts(run.notes)) notes.items.push_back(plain_text(note));
  if (!notes.items.empty()) section.blocks.emplace_back(std::move(notes));
  return section;
}

}  // namespace ridgeline::report
