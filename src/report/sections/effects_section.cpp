// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analysis/comparison.hpp"
#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::report {
namespace {

std::string failure_of(const TuneView& view, const schema::TunedPair& pair) {
  return plain_text(pair.failure.empty() ? status_text(pair.status) : view.words.line(pair.failure));
}

std::string contribution_words(const TuneView& view, const schema::TunedPair& pair) {
  using enum messages::TuneContributionFound;
  messages::TuneContribution out{.found = undecided, .dropped = messages::TuneContributionDropped::no};
  const auto& run = view.run;
  if (run.verdict && std::find(run.verdict->unproven.begin(), run.verdict->unproven.end(), pair.setting) !=
                         run.verdict->unproven.end()) {
    out.found = unproven;
    return view.text(messages::tune_contribution(out));
  }
  const bool is_needed = pair.comparison && pair.comparison->verdict == schema::Verdict::slower;
  if (!pair.comparison) {
    out.found = failed;
    out.why = failure_of(view, pair);
  } else if (is_needed) {  // taking it away makes the winner slower
    out.found = helps;
  } else if (pair.comparison->verdict == schema::Verdict::faster) {
    out.found = hurts;
  } else if (pair.comparison->verdict == schema::Verdict::no_difference) {
    out.found = same;
  }
  if (analysis::was_dropped(run, pair))
    out.dropped = is_needed ? messages::TuneContributionDropped::others : messages::TuneContributionDropped::alone;
  return view.text(messages::tune_contribution(out));
}

std::string value_of(const schema::Configuration& configuration, const std::string& key) {
  const auto value = schema::effective_value(configuration, key);
  return value ? value->to_text() : "default";
}

std::string id_of(const TuneView& view, const schema::Configuration& configuration) {
  const auto* trial = analysis::trial_of(view.ranking, configuration);
  return trial != nullptr ? trial_link(trial->id) : std::string(kAbsent);
}

Table contributions_table(const TuneView& view) {
  Table table{view.text(messages::tune_contributions_table()),
              {{"Trial", Align::right},
               {"Setting"},
               {"Without it"},
               {"Contribution", Align::right},
               {"95 % interval", Align::right},
               {"Verdict"}},
              {}};
  for (const auto& pair : view.run.pairs) {
    if (pair.purpose != schema::PairPurpose::leave_one_out) continue;
    Table::Row row;
    row.cells = {id_of(view, pair.a), code_mark(pair.setting + "=" + value_of(pair.a, pair.setting)),
                 code_mark(value_of(pair.b, pair.setting))};
    if (pair.comparison) {
      const auto contribution = analysis::inverted(*pair.comparison);
      row.cells.push_back(view.text(change_of(contribution)));
      row.cells.push_back(view.text(change_interval_of(contribution)));
      if (contribution.verdict == schema::Verdict::slower) row.tone = Tone::bad;
      if (contribution.verdict == schema::Verdict::faster) row.tone = Tone::good;
    } else {
      row.cells.insert(row.cells.end(), 2, std::string(kAbsent));
      row.tone = Tone::warning;
    }
    row.cells.push_back(contribution_words(view, pair));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_verdict(const TuneView& view, Table::Row& row, const schema::TunedPair& pair) {
  if (const auto& found = pair.comparison) {
    auto words = std::string(base::enum_name(found->verdict));
    for (auto& c : words)
      if (c == '_') c = ' ';
    row.cells.insert(
        row.cells.end(),
        {view.text(ratio_of(*found)), interval_cell(*found), fmt::format("{}", found->abba_rounds * 4),
         found->p_value < 0.0001 ? std::string("< 0.0001") : fmt::format("{:.4f}", found->p_value), words});
    if (found->verdict == schema::Verdict::faster) row.tone = Tone::good;
    if (found->verdict == schema::Verdict::slower) row.tone = Tone::bad;
  } else {
    row.cells.insert(row.cells.end(), 4, std::string(kAbsent));
    row.cells.push_back(failure_of(view, pair));
    row.tone = Tone::warning;
  }
}

/// A row for each comparison of that purpose, of its second side; against which trial, where that is not the current
/// configuration.
Table comparisons_table(const TuneView& view, schema::PairPurpose purpose) {
  const bool names_other = purpose == schema::PairPurpose::head_to_head;
  Table table{view.text(messages::tune_comparisons_table(names_other)), {{"Trial", Align::right}}, {}};
  if (names_other) table.columns.push_back({"Against", Align::right});
  table.columns.insert(table.columns.end(), {{"Settings that differ"},
                                             {"Ratio", Align::right},
                                             {"95 % interval", Align::right},
                                             {"Blocks", Align::right},
                                             {"p", Align::right},
                                             {"Verdict"}});
  for (const auto& pair : view.run.pairs) {
    if (pair.purpose != purpose) continue;
    Table::Row row;
    row.cells = {id_of(view, pair.b)};
    if (names_other) row.cells.push_back(id_of(view, pair.a));
    row.cells.push_back(view.difference_marked(pair.b));
    add_verdict(view, row, pair);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Section effects_section(const TuneView& view) {
  auto contributions = contributions_table(view);
  auto head_to_heads = comparisons_table(view, schema::PairPurpose::head_to_head);
  auto finalists = comparisons_table(view, schema::PairPurpose::finalist);
  // A single setting's contribution is the whole gain: nothing is left out, one at a time.
  Section section{
      "effects", contributions.rows.empty() ? "The finalists, compared" : "What each setting contributes", {}};
  if (!contributions.rows.empty()) {
    const auto first = std::find_if(view.run.pairs.begin(), view.run.pairs.end(), [](const auto& pair) {
      return pair.purpose == schema::PairPurpose::leave_one_out;
    });
    const auto* finalist = analysis::trial_of(view.ranking, first->a);
    section.blocks.emplace_back(Paragraph{view.linked(
        messages::tune_contributions({.trial = finalist != nullptr ? std::optional(finalist->id) : std::nullopt,
                                      .effect = view.run.request.min_effect}))});
    section.blocks.emplace_back(effects_chart(view));
    section.blocks.emplace_back(std::move(contributions));
  }
  if (!head_to_heads.rows.empty()) section.blocks.emplace_back(std::move(head_to_heads));
  if (!finalists.rows.empty()) section.blocks.emplace_back(std::move(finalists));
  return section;
}

}  // namespace ridgeline::report
