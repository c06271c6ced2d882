// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analysis/comparison.hpp"
#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/sections/sections.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::report {
namespace {

std::string contribution_words(const TuneView& view, const schema::TunedPair& pair) {
  if (!pair.comparison)
    return "not measured: " +
           plain_text(pair.failure.empty() ? status_text(pair.status) : view.words.line(pair.failure));
  switch (pair.comparison->verdict) {
    case schema::Verdict::slower: return "helps";  // taking it away makes the winner slower
    case schema::Verdict::faster: return "**hurts**";
    case schema::Verdict::no_difference: return "makes no difference";
    default: return "undecided";
  }
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
  Table table{"What each setting contributes (leave one out)",
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
      row.cells.push_back(change_cell(contribution));
      row.cells.push_back(change_interval_cell(contribution));
      if (contribution.verdict == schema::Verdict::slower) row.tone = Tone::bad;
      if (contribution.verdict == schema::Verdict::faster) row.tone = Tone::good;
    } else {
      row.cells.insert(row.cells.end(), 2, std::string(kAbsent));
      row.tone = Tone::warning;
    }
    const bool dropped = analysis::was_dropped(view.run, pair);
    const bool helped = pair.comparison && pair.comparison->verdict == schema::Verdict::slower;
    const auto& verdict = view.run.verdict;
    const bool unproven = verdict && std::find(verdict->unproven.begin(), verdict->unproven.end(), pair.setting) !=
                                         verdict->unproven.end();
    if (unproven) {
      row.cells.push_back("not proven either way, stays");
      table.rows.push_back(std::move(row));
      continue;
    }
    row.cells.push_back(contribution_words(view, pair) + (!dropped ? ""
                                                          : helped ? " beside what was dropped"
                                                                   : ", dropped"));
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
        {ratio_cell(*found), interval_cell(*found), fmt::format("{}", found->abba_rounds * 4),
         found->p_value < 0.0001 ? std::string("< 0.0001") : fmt::format("{:.4f}", found->p_value), words});
    if (found->verdict == schema::Verdict::faster) row.tone = Tone::good;
    if (found->verdict == schema::Verdict::slower) row.tone = Tone::bad;
  } else {
    row.cells.insert(row.cells.end(), 4, std::string(kAbsent));
    row.cells.push_back(plain_text(pair.failure.empty() ? status_text(pair.status) : view.words.line(pair.failure)));
    row.tone = Tone::warning;
  }
}

/// A row for each comparison of that purpose, of its second side; against which trial, where that is not the current
/// configuration.
Table comparisons_table(const TuneView& view, schema::PairPurpose purpose, std::string title) {
  const bool names_other = purpose == schema::PairPurpose::head_to_head;
  Table table{std::move(title), {{"Trial", Align::right}}, {}};
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
  auto head_to_heads = comparisons_table(view, schema::PairPurpose::head_to_head, "Trials head to head, interleaved");
  auto finalists = comparisons_table(view, schema::PairPurpose::finalist,
                                     "Finalists against the current configuration, interleaved");
  // A single setting's contribution is the whole gain: nothing is left out, one at a time.
  Section section{
      "effects", contributions.rows.empty() ? "The finalists, compared" : "What each setting contributes", {}};
  if (!contributions.rows.empty()) {
    const auto finalist = contributions.rows.front().cells.front();
    section.blocks.emplace_back(Paragraph{
        "Each setting of the best finalist" + (finalist == kAbsent ? "" : ", trial " + finalist + ",") +
        " was put back to its current value, alone, and the two were measured alternately in a process that had "
        "run nothing but comparisons. The loss is the setting's contribution. Settings interact, so the parts "
        "need not multiply to the whole gain. What is not needed is dropped where the simpler "
        "configuration is shown to be at most " +
        percent(view.run.min_effect) + " slower than the fastest; a setting whose contribution is unclear stays."});
    section.blocks.emplace_back(effects_chart(view));
    section.blocks.emplace_back(std::move(contributions));
  }
  if (!head_to_heads.rows.empty()) section.blocks.emplace_back(std::move(head_to_heads));
  if (!finalists.rows.empty()) section.blocks.emplace_back(std::move(finalists));
  return section;
}

}  // namespace ridgeline::report
