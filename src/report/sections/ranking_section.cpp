// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
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
  if (!entry.meets_constraints) notes.push_back("constraint: " + plain_text(entry.broken_constraint));
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
  table.columns = {
      {"Trial", Align::right},
      {"Rank", Align::right},
      {"Settings that differ from the current ones"},
      {fmt::format("{}, {}", objective_title(view.run.request.objective), view.objective.unit), Align::right},
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
  const auto early =
      static_cast<std::size_t>(std::count_if(view.ranking.begin(), view.ranking.end(),
                                             [&](const auto& e) { return view.ending(*e.trial) == "stopped early"; }));
  auto text = fmt::format(
      "{} ran to the end with acceptable outputs{}. Trials "
      "of the same rank are tied: their intervals overlap, or their values lie within {} of the best of them. ",
      counted(view.ranking.size() - early, "trial"),
      early == 0 ? "" : fmt::format("; {} more {} stopped early as too slow", early, early == 1 ? "was" : "were"),
      percent(view.run.request.min_effect));
  if (analysis::is_corrected(view.ranking))
    text += fmt::format(
        "The machine's speed changed during the run, so trials rank by their speed-corrected {}: what it would have "
        "been while the machine was quiet, by a reference configuration that was timed again and again, with the 95 % "
        "interval of that estimate. Every other number of a trial is as measured. ",
        objective_name(view.run.request.objective));
  const auto* chosen = view.changes() && view.recommended() != nullptr ? view.ranked(view.recommended()->id) : nullptr;
  const bool from_outside = chosen != nullptr && chosen->rank > 1 && view.run.verdict->gain;
  const auto* simplest = analysis::simplest_of_best(view.ranking, view.run.current);
  const std::string_view preferred =
      chosen == nullptr || from_outside ? ""
      : simplest != nullptr && simplest->trial->configuration == chosen->trial->configuration
          ? "; of those, the one closest to the current configuration, with the fewest settings and the least memory "
            "is recommended"
          : "; which of them is recommended follows from [comparing them head to head](#effects)";
  if (!view.ranking.front().meets_constraints)
    text += "**None of them meets the constraints.**";
  else if (tied > 1)
    text += fmt::format("**{} trials are tied for the best**{}.", tied, preferred);
  else
    text += "**No other trial is tied with the best.**";
  if (from_outside)
    text += fmt::format(
        " Trial {} is recommended although its rank is {}: these figures were taken at different times; what "
        "decides is [head-to-head measurement](#effects) with the current configuration, where it came to {}.",
        trial_link(chosen->trial->id), chosen->rank, ratio_cell(*view.run.verdict->gain));
  return text;
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
  std::string note = "A dash means that there are too few samples for the number.";
  if (hidden > 0) note += fmt::format(" {} more in [all trials](#trials).", counted(hidden, "trial"));
  section.blocks.emplace_back(Paragraph{note});
  return section;
}

}  // namespace ridgeline::report
