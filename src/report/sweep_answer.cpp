// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_answer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/sweep_answers.hpp"
#include "report/failed_trials.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sweep_table.hpp"
#include "report/utf8.hpp"
#include "stats/interval.hpp"

namespace ridgeline::report {

using schema::Message;
using schema::MessageRenderer;
using schema::SweepPoint;
using schema::SweepRun;

namespace {

constexpr std::size_t kSweepRows = 5;
constexpr std::size_t kAskedCommand = 60;

const schema::SweepSummary* summary_of(const SweepRun& run, const SweepPoint& point) {
  const auto found =
      std::find_if(run.points.begin(), run.points.end(), [&](const auto& one) { return one.point == point; });
  return found == run.points.end() ? nullptr : &*found;
}

Callout verdict(const MessageRenderer& words, const SweepRun& run) {
  if (!run.answers) return {Tone::warning, "No answer", words.text(messages::sweep_no_answer())};
  auto text = sentence(plain_text(words.text(run.answers->reason)));
  if (const auto gain = sweep_gain(run); !gain.empty()) text = sentence(plain_text(words.text(gain))) + " " + text;
  return {Tone::good, plain_text("Recommended: " + words.text(sweep_answer_of(words, run, run.answers->recommended))),
          text};
}

std::optional<Paragraph> failures(const MessageRenderer& words, const SweepRun& run) {
  std::vector<std::string> causes;
  for (const auto& trial : run.trials)
    if (trial.outcome.failure) causes.push_back(sweep_status(words, trial));
  return failed_trials(words, causes, run.trials.size());
}

Table best_points(const SweepRun& run) {
  auto table = sweep_points_table(run);
  table.caption.clear();
  if (table.rows.size() > kSweepRows) table.rows.resize(kSweepRows);
  return table;
}

}  // namespace

std::string sweep_point_name(const MessageRenderer& words, const SweepRun& run, const SweepPoint& point) {
  const auto text = schema::point_text(point, run.request.job.parameters);
  return text.empty() ? words.text(messages::sweep_command_itself()) : one_line(text);
}

Message sweep_answer_of(const MessageRenderer& words, const SweepRun& run, const SweepPoint& point) {
  const auto* summary = summary_of(run, point);
  return messages::sweep_answer(
      {.point = sweep_point_name(words, run, point),
       .objective = summary == nullptr ? "" : sweep_estimate(summary->objective),
       .unit = run.request.objective.metric == "seconds" ? "s" : one_line(run.request.objective.metric)});
}

Message sweep_gain(const SweepRun& run) {
  if (!run.answers || !run.answers->gain) return {};
  const auto& gain = *run.answers->gain;
  if (analysis::compares_differences(run)) {
    messages::SweepBetterBy by{.difference = sweep_number(gain.value)};
    if (gain.high > gain.low && gain.high < 1e299) {
      by.low = sweep_number(gain.low);
      by.high = sweep_number(gain.high);
    }
    return messages::sweep_better_by(by);
  }
  const bool known = gain.high > gain.low && gain.high < 1e5;
  if (known && stats::is_too_wide(gain.low, gain.high)) return messages::sweep_too_few();
  messages::SweepTimesAsGood out{.times = gain.value};
  if (known) {
    out.low = gain.low;
    out.high = gain.high;
  }
  return messages::sweep_times_as_good(out);
}

std::string sweep_asked(const MessageRenderer& words, const SweepRun& run) {
  return one_line(words.text(messages::sweep_asked(
      {.command = shorten(one_line(fmt::format("{}", fmt::join(run.request.job.command, " "))), kAskedCommand),
       .objective = run.request.objective.to_text(),
       .tried = std::ssize(run.points),
       .combinations = run.space_size,
       .trials = std::ssize(run.trials),
       .time = run.duration_s * 1e9})));
}

Section sweep_answer_section(const MessageRenderer& words, const SweepRun& run) {
  Section section{"answer", "", {}};
  section.blocks.emplace_back(verdict(words, run));
  if (!run.interruption.empty())
    section.blocks.emplace_back(
        Callout{Tone::warning, "The run ended early", sentence(plain_text(words.text(run.interruption)))});
  if (run.answers && !run.interrupted && !run.request.job.parameters.empty())
    section.blocks.emplace_back(Paragraph{words.text(messages::next_apply(run.id))});
  if (auto failed = failures(words, run)) section.blocks.emplace_back(std::move(*failed));
  if (run.answers) section.blocks.emplace_back(best_points(run));
  BulletList notes;
  for (const auto& note : words.texts(run.notes)) notes.items.push_back(plain_text(note));
  if (!notes.items.empty()) section.blocks.emplace_back(std::move(notes));
  return section;
}

}  // namespace ridgeline::report
