// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/accuracy_columns.hpp"
#include "report/sections/gpu_columns.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

constexpr std::size_t kRowsShown = 20;  // the rest is in the table of all trials

std::string optional_number(const Scale& scale, const std::optional<double>& value) {
  return value ? scale.number(*value) : std::string(kAbsent);
}

Tone tone_of(const TuneView& view, const analysis::RankedTrial& entry) {
  if (view.recommended() == entry.trial) return Tone::good;
  return entry.meets_constraints ? Tone::neutral : Tone::warning;
}

std::string in_parentheses(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "(" : ", ") + word;
  return out.empty() ? out : out + ")";
}

/// What the trial is, then its settings, which a narrow table cuts, then what is too long to go before them.
std::string settings(const TuneView& view, const analysis::RankedTrial& entry) {
  std::vector<std::string> is;
  std::vector<std::string> notes;
  if (view.recommended() == entry.trial) is.emplace_back("**recommended**");
  if (view.current() == entry.trial) is.emplace_back("**in use now**");
  if (view.ending(*entry.trial) == "stopped early") is.emplace_back("stopped early");
  if (!entry.meets_constraints) notes.push_back(view.text(messages::constraint(entry.broken_constraint)));
  if (entry.trial->cached) notes.emplace_back("cached");
  auto out = in_parentheses(is);
  if (!out.empty()) out += ' ';
  out += view.difference_marked(entry.trial->configuration);
  const auto after = in_parentheses(notes);
  return after.empty() ? out : out + " " + after;
}

Table ranking_table(const TuneView& view) {
  const auto p99_objective = view.run.request.objective == schema::Objective::p99;
  const auto rate_objective = view.run.request.objective == schema::Objective::throughput;
  Table table;
  table.caption = "Ranking, best first";
  table.columns = {{"Trial", Align::right},
                   {"Rank", Align::right},
                   {view.text(messages::tune_differing())},
                   {fmt::format("{}, {}", view.objective_title(), view.objective.unit), Align::right},
                   {"95 % interval", Align::right}};
  const bool corrected = analysis::is_corrected(view.ranking);
  if (corrected) table.columns.push_back({"Speed-corrected, " + view.objective.unit, Align::right});
  if (p99_objective || rate_objective) table.columns.push_back({"Median, " + view.latency.unit, Align::right, true});
  if (!p99_objective) table.columns.push_back({"p99, " + view.latency.unit, Align::right, true});
  if (!rate_objective) table.columns.push_back({"Items/s", Align::right, true});
  const GpuColumns gpu(view, {"gpu_memory_gb"});
  if (gpu.has("gpu_memory_gb"))
    gpu.add_titles(table.columns);
  else
    table.columns.push_back({"Memory, MiB", Align::right, true});
  const AccuracyColumns accuracy(view);
  accuracy.add_titles(table.columns);
  for (const auto& entry : view.ranking) {
    const auto special = entry.trial == view.current() || entry.trial == view.recommended();
    if (table.rows.size() >= kRowsShown && !special) continue;
    Table::Row row;
    const bool known = has_objective(view.run, entry);
    row.cells = {trial_link(entry.trial->id), fmt::format("{}", entry.rank), settings(view, entry),
                 known ? view.objective.number(entry.measured.value) : std::string(kAbsent),
                 known ? view.objective.interval(entry.measured.interval) : std::string(kAbsent)};
    if (corrected)
      row.cells.push_back(known && analysis::is_corrected(entry)
                              ? fmt::format("{} ({})", view.objective.number(entry.cost.value),
                                            view.objective.interval(entry.cost.interval))
                              : std::string(kAbsent));
    if (p99_objective || rate_objective) row.cells.push_back(view.latency.number(entry.summary.median_ns));
    if (!p99_objective) row.cells.push_back(optional_number(view.latency, entry.summary.p99_ns));
    if (!rate_objective) row.cells.push_back(view.rate.number(entry.summary.throughput_per_s));
    const auto rss = entry.outcome->measurement ? entry.outcome->measurement->peak_rss_bytes : 0;
    if (gpu.has("gpu_memory_gb"))
      gpu.add_cells(row.cells, entry.outcome);
    else
      row.cells.push_back(rss > 0 ? fmt::format("{:.0f}", static_cast<double>(rss) / (1024.0 * 1024.0))
                                  : std::string(kAbsent));
    accuracy.add_cells(row.cells, entry.outcome);
    row.tone = tone_of(view, entry);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string introduction(const TuneView& view) {
  const auto tied = std::count_if(view.ranking.begin(), view.ranking.end(), [](const auto& e) { return e.rank == 1; });
  const auto early = std::count_if(view.ranking.begin(), view.ranking.end(),
                                   [&](const auto& e) { return view.ending(*e.trial) == "stopped early"; });
  std::vector<schema::Message> out;
  out.push_back(messages::tune_ranked({.trials = std::ssize(view.ranking) - early,
                                       .early = early > 0 ? std::optional<std::int64_t>(early) : std::nullopt,
                                       .effect = view.run.request.min_effect}));
  if (analysis::is_corrected(view.ranking))
    out.push_back(messages::tune_corrected(objective_name(view.run.request.objective)));
  const auto* chosen = view.changes() && view.recommended() != nullptr ? view.ranked(view.recommended()->id) : nullptr;
  const bool from_outside = chosen != nullptr && chosen->rank > 1 && view.run.verdict->gain;
  const auto* closest = analysis::simplest_of_best(view.ranking, view.run.current);
  using enum messages::TuneBestBest;
  using enum messages::TuneBestChosen;
  const auto preferred = chosen == nullptr || from_outside ? other
                         : closest != nullptr && closest->trial->configuration == chosen->trial->configuration
                             ? simplest
                             : compared;
  out.push_back(messages::tune_best({.best = !view.ranking.front().meets_constraints ? none
                                             : tied > 1                              ? several
                                                                                     : one,
                                     .tied = tied,
                                     .chosen = preferred}));
  if (from_outside)
    out.push_back(messages::tune_outside(
        {.trial = chosen->trial->id, .rank = chosen->rank, .ratio = ratio_of(*view.run.verdict->gain)}));
  return link_trials(view, fmt::format("{}", fmt::join(view.words.texts(out), " ")));
}

}  // namespace

Section ranking_section(const TuneView& view) {
  Section section{"ranking", "Ranking", {}};
  if (view.ranking.empty()) return section;
  section.blocks.emplace_back(Paragraph{introduction(view)});
  if (std::any_of(view.ranking.begin(), view.ranking.end(),
                  [&](const auto& entry) { return has_objective(view.run, entry); }))
    section.blocks.emplace_back(ranking_chart(view));
  auto table = ranking_table(view);
  const auto hidden = view.ranking.size() - table.rows.size();
  section.blocks.emplace_back(std::move(table));
  auto note = view.text(messages::dash());
  if (hidden > 0) note += " " + view.text(messages::tune_more_trials(static_cast<std::int64_t>(hidden)));
  section.blocks.emplace_back(Paragraph{note});
  return section;
}

}  // namespace ridgeline::report
