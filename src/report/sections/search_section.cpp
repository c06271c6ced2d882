// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "analysis/comparison.hpp"
#include "analysis/findings.hpp"
#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

std::string list_values(const std::vector<schema::Value>& values) {
  std::string out;
  for (const auto& value : values) out += (out.empty() ? "" : " ") + value_mark(value.to_text());
  return out;
}

Table space_table(const TuneView& view) {
  Table table{"Searched settings", {{"Setting"}, {"Values in the space"}, {"Trials that set it", Align::right}}, {}};
  for (const auto& dimension : view.run.space) {
    const auto used = std::count_if(view.run.trials.begin(), view.run.trials.end(),
                                    [&](const auto& trial) { return trial.configuration.contains(dimension.key); });
    table.rows.push_back(
        {{code_mark(dimension.key), list_values(dimension.values), fmt::format("{}", used)}, Tone::neutral, ""});
  }
  return table;
}

}  // namespace

Section search_section(const TuneView& view) {
  Section section{"search", "The search", {}};
  if (view.run.trials.empty()) return section;
  messages::TuneSearch out{.search = plain_text(view.run.request.search),
                           .trials = std::ssize(view.run.trials),
                           .time = view.run.duration_s * 1e9,
                           .huge = view.run.space_size >= 1e7,
                           .grid = view.run.space_size};
  if (view.run.space_size >= 1)
    out.share = std::min(1.0, static_cast<double>(view.run.trials.size()) / view.run.space_size);
  section.blocks.emplace_back(Paragraph{view.text(messages::tune_search(out))});
  if (const auto& spent = view.run.time_spent) section.blocks.emplace_back(Paragraph{view.text(time_division(*spent))});
  section.blocks.emplace_back(timeline_chart(view));
  if (auto chart = gpu_timeline_chart(view)) section.blocks.emplace_back(std::move(*chart));
  if (!view.run.space.empty()) section.blocks.emplace_back(space_table(view));
  return section;
}

Section pruned_section(const TuneView& view) {
  Section section{"pruned", "Excluded, or without effect", {}};
  Table pruned{"Excluded from the search", {{"Setting"}, {"Values"}, {"Why"}}, {}};
  for (const auto& entry : view.run.pruned)
    pruned.rows.push_back({{code_mark(entry.key), entry.values.empty() ? std::string("all") : list_values(entry.values),
                            plain_text(view.words.text(entry.reason))},
                           Tone::neutral,
                           ""});
  if (!pruned.rows.empty()) section.blocks.emplace_back(std::move(pruned));

  Table idle{
      "Measured, but without effect", {{"Setting"}, {"Change", Align::right}, {"95 % interval", Align::right}}, {}};
  for (const auto& pair : view.run.pairs) {
    if (pair.purpose != schema::PairPurpose::leave_one_out || !pair.comparison) continue;
    if (pair.comparison->verdict != schema::Verdict::no_difference) continue;
    const auto contribution = analysis::inverted(*pair.comparison);
    const auto* value = pair.a.find(pair.setting);
    idle.rows.push_back(
        {{code_mark(fmt::format("{}={}", pair.setting, value != nullptr ? value->to_text() : "default")),
          view.text(change_of(contribution)), view.text(change_interval_of(contribution))},
         Tone::neutral,
         ""});
  }
  if (!idle.rows.empty()) section.blocks.emplace_back(std::move(idle));

  // What the runtime read back against what the trial asked for.
  Table swallowed{
      view.text(messages::tune_not_taken_over()), {{"Setting"}, {"Requested"}, {"Read back"}, {"Trials"}}, {}};
  std::map<std::vector<std::string>, std::vector<int>> cases;
  for (const auto& trial : view.run.trials) {
    const auto* outcome = view.outcome(trial);
    if (outcome == nullptr || !outcome->measurement) continue;
    for (const auto& [key, effective] : outcome->measurement->effective_settings) {
      const auto* asked = trial.configuration.find(key);
      if (asked != nullptr && !analysis::took_effect(key, *asked, effective))
        cases[{key, asked->to_text(), effective}].push_back(trial.id);
    }
  }
  for (const auto& [words, ids] : cases)
    swallowed.rows.push_back(
        {{code_mark(words[0]), code_mark(words[1]), code_mark(words[2]), trial_links(ids)}, Tone::warning, ""});
  if (!swallowed.rows.empty()) section.blocks.emplace_back(std::move(swallowed));
  return section;
}

}  // namespace ridgeline::report
