// SPDX-License-Identifier: Apache-2.0
// Which runtimes and providers were tried, and how each does at its defaults.
#include "analysis/candidate_table.hpp"
#include "analysis/summary.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

schema::Configuration settings_of(const analysis::CandidateRow& row) {
  return row.trial == nullptr ? schema::Configuration() : schema::without_candidate(row.trial->configuration);
}

std::string name_of(const analysis::CandidateRow& row) {
  auto name = code_mark(row.candidate.name()) + (row.candidate.id.empty() ? " (**in use now**)" : "");
  if (const auto own = settings_of(row); !own.empty()) name += " with " + code_mark(own.to_text());
  return name;
}

/// "328 of 328", with the parts where there are several.
std::string nodes_of(const analysis::CandidateRow& row, const schema::Measurement* measured) {
  if (measured == nullptr || measured->ran_on.nodes.empty()) return std::string(kAbsent);
  std::int64_t all = 0;
  for (const auto& [who, count] : measured->ran_on.nodes) all += count;
  const auto& name =
      row.candidate.plugin ? row.candidate.plugin->ep_name : schema::provider_of(row.candidate.provider).library_name;
  const auto own = measured->ran_on.nodes.find(name);
  const auto count = own == measured->ran_on.nodes.end() ? 0 : own->second;
  return fmt::format("{} of {}{}", count, all,
                     measured->ran_on.parts > 1 ? fmt::format(" in {} parts", measured->ran_on.parts) : "");
}

/// What is to be said of the candidate beside its numbers.
std::string remark(const TuneView& view, const analysis::CandidateRow& row) {
  const auto* failure = row.outcome != nullptr && row.outcome->failure ? &*row.outcome->failure : nullptr;
  if (failure != nullptr) return plain_text(view.words.line(failure->message));
  const auto tried = fmt::format("{} tried", counted(row.trials, "configuration"));
  return row.left.empty() ? tried : fmt::format("dropped: {}", plain_text(view.words.text(row.left)));
}

Table candidates_table(const TuneView& view, const std::vector<analysis::CandidateRow>& rows) {
  const bool at_defaults =
      std::all_of(rows.begin(), rows.end(), [](const auto& row) { return settings_of(row).empty(); });
  Table table{at_defaults ? "Candidates at their defaults" : "Candidates as they were tried first",
              {{"Candidate"},
               {fmt::format("{}, {}", view.objective_title(), view.objective.unit), Align::right},
               {"Ratio", Align::right},
               {"95 % interval", Align::right},
               {"Output error", Align::right, true},
               {"Nodes", Align::right, true},
               {"Load, ms", Align::right, true},
               {"Memory, MiB", Align::right, true},
               {"Result"}},
              {}};
  const auto winner = view.changes() ? schema::candidate_of(view.run.verdict->configuration) : std::string();
  for (const auto& row : rows) {
    Table::Row out;
    out.cells.push_back(name_of(row));
    const auto* measured = row.outcome != nullptr && row.outcome->measurement ? &*row.outcome->measurement : nullptr;
    const bool timed = measured != nullptr && !measured->latency_ns.empty();
    const auto absent = std::string(kAbsent);
    out.cells.push_back(timed ? view.objective.number(analysis::cost_of(*measured, view.run.request.objective).value)
                              : absent);
    const auto& ratio = row.against_current;
    out.cells.push_back(row.candidate.id.empty() ? std::string("1.00×") : ratio ? view.text(ratio_of(*ratio)) : absent);
    out.cells.push_back(ratio ? interval_cell(*ratio) : absent);
    out.cells.push_back(row.outcome != nullptr && row.outcome->output_error
                            ? fmt::format("{:.1e}", row.outcome->output_error->scaled_max_abs)
                            : absent);
    out.cells.push_back(nodes_of(row, measured));
    out.cells.push_back(timed ? fmt::format("{:.0f}", (measured->session_create_ns + measured->first_run_ns) * 1e-6)
                              : absent);
    out.cells.push_back(timed ? fmt::format("{:.0f}", static_cast<double>(measured->peak_rss_bytes) / (1024.0 * 1024.0))
                              : absent);
    out.cells.push_back(remark(view, row));
    if (view.changes() && row.candidate.id == winner) out.tone = Tone::good;
    if (!timed) out.tone = Tone::warning;
    table.rows.push_back(std::move(out));
  }
  return table;
}

}  // namespace

Section candidates_section(const TuneView& view) {
  Section section{"candidates", "Runtimes and providers", {}};
  const auto rows = analysis::candidate_table(view.run, view.outcomes);
  if (rows.empty()) return section;
  section.blocks.emplace_back(candidates_table(view, rows));
  section.blocks.emplace_back(Paragraph{view.text(messages::tune_ratio_above())});
  Facts where;
  for (const auto& row : rows) {
    const auto& runtime = row.candidate.runtime;
    auto text = code_mark(runtime.library_path);
    if (row.candidate.plugin) text += " with " + code_mark(row.candidate.plugin->library_path);
    if (!row.candidate.source.empty()) text += ", " + plain_text(view.words.text(row.candidate.source));
    where.rows.emplace_back(row.candidate.id.empty() ? "in use now" : row.candidate.id, std::move(text));
  }
  section.blocks.emplace_back(std::move(where));
  return section;
}

}  // namespace ridgeline::report
