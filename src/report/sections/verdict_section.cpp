// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "analysis/candidate_table.hpp"
#include "analysis/comparison.hpp"
#include "analysis/comparison_text.hpp"
#include "analysis/compile_cost.hpp"
#include "analysis/proof.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/sections/sections.hpp"
#include "report/utf8.hpp"
#include "report/yaml_text.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::report {
namespace {

using schema::Decision;
using schema::Objective;

/// nullptr also where the samples do not support the percentile that is the objective.
const analysis::RankedTrial* ranked_of(const TuneView& view, const schema::TunedTrial* trial) {
  const auto* ranked = trial != nullptr ? view.ranked(trial->id) : nullptr;
  return ranked != nullptr && has_objective(view.run, *ranked) ? ranked : nullptr;
}

/// What the two took in the comparison of them, where their own trials give another ratio: they were measured at
/// different times, at which the machine was not equally fast.
std::optional<analysis::ArmMedians> interleaved_medians(const TuneView& view) {
  const auto* best = ranked_of(view, view.recommended());
  const auto* now = ranked_of(view, view.current());
  const auto& verdict = *view.run.verdict;
  if (best == nullptr || now == nullptr || !verdict.gain || view.run.objective != Objective::latency) return {};
  if (analysis::agrees(*verdict.gain, now->measured.value, best->measured.value)) return {};
  for (const auto& pair : view.run.pairs) {
    if (pair.purpose != schema::PairPurpose::finalist || pair.b != verdict.configuration || !pair.comparison) continue;
    const auto stored = view.pairs.find(pair.key);
    if (stored == view.pairs.end() || !stored->second.measurement) continue;
    const auto medians = analysis::arm_medians(*stored->second.measurement);
    if (medians && analysis::agrees(*verdict.gain, medians->a_ns, medians->b_ns)) return medians;
  }
  return {};
}

/// ": median latency 9.83 ms instead of 14.1 ms", or "" when one of the two is not known.
std::string instead_of(const TuneView& view) {
  const auto* best = ranked_of(view, view.recommended());
  const auto* now = ranked_of(view, view.current());
  if (best == nullptr || now == nullptr) return {};
  const auto turns = interleaved_medians(view);
  return fmt::format(": {} {} instead of {}{}", objective_name(view.run.objective),
                     view.objective.text(turns ? turns->b_ns : best->measured.value),
                     view.objective.text(turns ? turns->a_ns : now->measured.value), turns ? ", interleaved" : "");
}

/// Whoever divides the two medians should not wonder.
std::string why_other_ratio(const TuneView& view) {
  const auto* best = ranked_of(view, view.recommended());
  const auto* now = ranked_of(view, view.current());
  if (best == nullptr || now == nullptr || interleaved_medians(view) ||
      analysis::agrees(*view.run.verdict->gain, now->measured.value, best->measured.value))
    return {};
  return " The two were taken at different times, at which this machine was not equally fast; the ratio is from "
         "comparing the two head to head.";
}

/// Why the first row of the ranking is not the recommended one, where no comparison of the two says it.
std::string first_row_sentence(const TuneView& view) {
  const auto& first = view.ranking.front();
  const auto* best = ranked_of(view, view.recommended());
  if (best == nullptr || first.trial == best->trial) return {};
  const double lead = best->cost.value / first.cost.value - 1;
  return fmt::format(" Trial {} ranks first by its own{} time, {:.1f} % ahead of it, which is {}.",
                     trial_link(first.trial->id), analysis::is_corrected(view.ranking) ? " speed-corrected" : "",
                     lead * 100,
                     lead <= view.run.min_effect ? "less than counts"
                                                 : "overruled by the head-to-head comparison (see the comparisons)");
}

/// Why a trial that was faster than the recommended one is not the recommended one.
std::string head_to_head_sentence(const TuneView& view) {
  const auto* best = ranked_of(view, view.recommended());
  if (best == nullptr) return {};
  for (const auto& pair : view.run.pairs) {
    const bool won_as_b = pair.b == view.run.verdict->configuration;
    if (pair.purpose != schema::PairPurpose::head_to_head || !pair.comparison ||
        (!won_as_b && pair.a != view.run.verdict->configuration))
      continue;
    const auto* other = ranked_of(view, analysis::trial_of(view.ranking, won_as_b ? pair.a : pair.b));
    if (other == nullptr) continue;
    const double lead = best->cost.value / other->cost.value - 1;
    if (lead < view.run.min_effect / 2) continue;  // nobody wonders
    const auto found = won_as_b ? *pair.comparison : analysis::inverted(*pair.comparison);
    return fmt::format(
        " Trial {} was {:.1f} % better {}; head to head {}.", trial_link(other->trial->id), lead * 100,
        analysis::is_corrected(view.ranking) ? "by its speed-corrected time" : "in a session of its own",
        found.verdict == schema::Verdict::faster
            ? fmt::format("the recommended one came to {} of it ({})", ratio_cell(found), interval_text(found))
        : analysis::is_no_slower(found, view.run.min_effect)
            ? fmt::format("the recommended one is shown to be at most {} slower ({})", percent(view.run.min_effect),
                          interval_text(found))
            : std::string("the two could not be distinguished"));
  }
  return first_row_sentence(view);
}

/// "15,300".
std::string grouped(double count) {
  auto text = fmt::format("{:.0f}", count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

/// What the recommended configuration costs before its first fast call, and when that has been earned.
std::string compile_sentence(const TuneView& view) {
  const auto cost = analysis::compile_cost(view.run, view.outcomes, view.ranking);
  if (!cost) return {};
  const auto& configuration = view.run.verdict->configuration;
  const auto* what = configuration.contains("torch_compile") ? "Compiling"
                     : configuration.contains("torchscript") ? "Tracing"
                                                             : "Capturing its graph";
  const auto time = base::format_duration(cost->seconds * 1e9);
  // Three digits: it is no more certain than that.
  const double calls = cost->pays_after_calls.value_or(0);
  const double step = calls >= 1000 ? std::pow(10, std::floor(std::log10(calls)) - 2) : 1;
  const auto earned = calls > 0
                          ? fmt::format(" pays for itself after {} calls", grouped(std::ceil(calls / step) * step))
                          : std::string();
  if (cost->from_warm_cache)
    return fmt::format(" {} took {}, from a warm cache; the first time on a machine takes longer{}.", what, time,
                       earned.empty() ? "" : ", and this much" + earned);
  return fmt::format(" {} takes {}{}.", what, time, earned.empty() ? "" : ":" + earned);
}

std::string change_sentence(const TuneView& view) {
  const auto& verdict = *view.run.verdict;
  const auto rate = view.run.objective == Objective::throughput;
  auto who = view.recommended() != nullptr ? "Trial " + trial_link(verdict.trial_id) : "The recommended configuration";
  if (!verdict.gain)
    return "Nothing was compared: " + link_trials(view, sentence(plain_text(view.words.text(verdict.reason))));
  const auto* now = view.current() != nullptr ? view.ranked(view.current()->id) : nullptr;
  const auto broken = now != nullptr && !now->meets_constraints
                          ? fmt::format("The current configuration breaks {}. ", plain_text(now->broken_constraint))
                          : std::string();
  return fmt::format("{}{} {} **{}** {} the current configuration ({}){}.{}{}{}", broken, who, rate ? "has" : "is",
                     gain_phrase(view.run.objective, *verdict.gain), rate ? "of" : "as", interval_text(*verdict.gain),
                     instead_of(view), why_other_ratio(view), head_to_head_sentence(view), compile_sentence(view));
}

/// Below a title that says already that it is not decided.
std::string undecided_reason(const TuneView& view) {
  const auto& reason = view.run.verdict->reason;
  if (reason.is("campaign.not_decided")) return view.words.text(reason.arguments().at("why").get<schema::Message>());
  auto text = view.words.text(reason);
  if (constexpr std::string_view said = "not decided: "; reason.is(schema::kLegacy) && text.starts_with(said))
    text.erase(0, said.size());
  return text;
}

std::string keep_sentence(const TuneView& view) {
  const auto& verdict = *view.run.verdict;
  if (!analysis::tried_others(view.run)) return "No configuration besides the current one was tried.";
  const auto* undecided = analysis::undecided_finalist(view.run);
  if (verdict.reason.empty() && undecided != nullptr)
    return fmt::format("The best candidate came to **{}** ({}), and the interval is too wide to tell.",
                       ratio_cell(*undecided->comparison), interval_text(*undecided->comparison));
  if (!verdict.gain)
    return verdict.reason.empty()
               ? fmt::format("Nothing beat the current configuration by {} or more.", percent(view.run.min_effect))
               : link_trials(view, sentence(plain_text(undecided_reason(view))));
  return fmt::format("Nothing beat the current configuration by {} or more: the best candidate came to **{}** ({}).",
                     percent(view.run.min_effect), ratio_cell(*verdict.gain), interval_text(*verdict.gain));
}

Callout verdict_callout(const TuneView& view) {
  const auto decision = view.run.verdict ? view.run.verdict->decision : Decision::none;
  if (decision == Decision::change) return {Tone::good, "Change the configuration", change_sentence(view)};
  if (decision == Decision::keep && analysis::is_undecided(view.run))
    return {Tone::warning, "Not decided", keep_sentence(view)};
  if (decision == Decision::keep) return {Tone::neutral, "Keep what you have", keep_sentence(view)};
  const auto reason = view.run.verdict
                          ? link_trials(view, sentence(plain_text(view.words.text(view.run.verdict->reason))))
                          : std::string();
  return {Tone::warning, "No verdict",
          reason.empty() ? std::string("The run ended before the configurations could be compared.") : reason};
}

KeyFigures key_figures(const TuneView& view) {
  KeyFigures out;
  const auto turns = view.changes() ? interleaved_medians(view) : std::nullopt;
  const auto figure = [&](const char* label, const schema::TunedTrial* trial, Tone tone) {
    const auto* ranked = ranked_of(view, trial);
    if (ranked == nullptr) return;
    const auto link = trial_link(trial->id);
    if (turns)
      out.figures.push_back({label, view.objective.text(tone == Tone::good ? turns->b_ns : turns->a_ns),
                             fmt::format("trial {}, interleaved", link), tone});
    else
      out.figures.push_back({label, view.objective.text(ranked->measured.value),
                             fmt::format("trial {}, {}", link, view.objective.interval(ranked->measured.interval)),
                             tone});
  };
  figure("Now", view.current(), Tone::neutral);
  if (view.changes()) {
    figure("Recommended", view.recommended(), Tone::good);
    if (const auto& gain = view.run.verdict->gain) {
      const auto mark = analysis::tail_mark(*gain);
      const bool is_known = !analysis::is_too_wide(*gain);
      out.figures.push_back({mark.empty() ? "Gain" : "Gain, " + mark,
                             is_known ? ratio_text(gain->ratio, ratio_decimals(*gain)) : bound_text(*gain),
                             is_known ? interval_cell(*gain) + " (95 %)" : std::string(analysis::kTooFewMeasurements),
                             Tone::good});
    }
  }
  std::size_t stored = 0;
  double stored_s = 0;
  for (const auto& trial : view.run.trials) {
    const auto* outcome = view.outcome(trial);
    if (!trial.cached) continue;
    ++stored;
    if (outcome != nullptr) stored_s += outcome->duration_s;
  }
  const auto endings = view.endings();
  std::string note;
  const auto add = [&](std::size_t count, std::string_view words) {
    if (count > 0) note += fmt::format("{}{} {}", note.empty() ? "" : ", ", count, words);
  };
  add(endings.unsuccessful, "failed or rejected");
  add(endings.stopped_early, "stopped early");
  add(endings.unfinished, "not finished");
  if (note.empty() && endings.completed > 0) note = "all ran to the end";
  add(stored, "cached");
  out.figures.push_back({"Trials", fmt::format("{}", view.run.trials.size()), note, Tone::neutral});
  out.figures.push_back({"Search time", base::format_duration(view.run.duration_s * 1e9),
                         plain_text(view.run.search) + (view.run.interrupted ? ", interrupted" : "") +
                             (stored_s > view.run.duration_s
                                  ? fmt::format("; the stored trials took {}", base::format_duration(stored_s * 1e9))
                                  : ""),
                         Tone::neutral});
  return out;
}

std::string value_text(const schema::TuneRun& run, const schema::Configuration& configuration, const std::string& key) {
  if (key == schema::kCandidateKey) return value_mark(analysis::candidate_in(run, configuration).name());
  const auto value = schema::effective_value(configuration, key);
  if (!value) return "default";
  return value_mark(value->to_text()) + (configuration.contains(key) ? "" : " (default)");
}

/// The recommended configuration with the defaults written out for settings that are set to something else now.
schema::Configuration spelled_out(const schema::TuneRun& run) {
  auto out = run.verdict->configuration;
  for (const auto& [key, value] : run.current.values())
    if (const auto fallback = schema::effective_value(out, key)) out.set(key, *fallback);
  return out;
}

/// What a setting of the winner contributes; kAbsent where that was not measured.
std::string contribution_of(const TuneView& view, const std::string& key) {
  std::string contribution(kAbsent);
  for (const auto& pair : view.run.pairs)
    if (pair.purpose == schema::PairPurpose::leave_one_out && pair.setting == key && pair.comparison)
      contribution = change_cell(analysis::inverted(*pair.comparison));
  return contribution;
}

/// What config.yaml has for a key that changes.
std::string now_text(const schema::TuneRun& run, const schema::SettingChange& change) {
  return change.from ? value_mark(change.from->to_text()) : value_text(run, {}, change.key);
}

/// What is written for it, with a note where that is what the runtime does anyway.
std::string wanted_text(const schema::TuneRun& run, const schema::SettingChange& change) {
  if (!change.to) return "default: take the key out by hand";
  const auto* param = schema::find_param(change.key);
  const bool is_default = param != nullptr && param->default_value == change.to;
  return value_mark(change.to->to_text()) +
         (is_default && !run.verdict->configuration.contains(change.key) ? " (default)" : "");
}

/// The settings that change, as they are written to config.yaml, and the contribution of each where it was measured.
void add_changes(Section& section, const TuneView& view) {
  Table table{"Settings that change", {{"Setting"}, {"Now"}, {"Recommended"}, {"Contribution", Align::right}}, {}};
  std::size_t absent = 0;
  for (const auto& change : changes_of(view.run)) {
    auto contribution = contribution_of(view, change.key);
    absent += contribution == kAbsent ? 1 : 0;
    table.rows.push_back(
        {{code_mark(change.key), now_text(view.run, change), wanted_text(view.run, change), std::move(contribution)},
         Tone::neutral,
         ""});
  }
  const auto& recommended = view.run.verdict->configuration;
  if (schema::candidate_of(recommended) != schema::candidate_of(view.run.current))
    section.blocks.emplace_back(
        Paragraph{fmt::format("It runs on {} instead of {}; the code further down loads it.",
                              value_text(view.run, recommended, std::string(schema::kCandidateKey)),
                              value_text(view.run, view.run.current, std::string(schema::kCandidateKey)))});
  if (table.rows.empty()) return;
  const bool none = absent == table.rows.size();
  if (none) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.cells.pop_back();
  }
  section.blocks.emplace_back(std::move(table));
  if (absent > 0 && !none)
    section.blocks.emplace_back(
        Paragraph{"A dash: not measured separately, as another setting needs it or the time was up."});
}

}  // namespace

Section verdict_section(const TuneView& view) {
  Section section{"verdict", "Verdict", {}};
  section.blocks.emplace_back(verdict_callout(view));
  if (view.run.interrupted)
    section.blocks.emplace_back(
        Callout{Tone::warning, "The run was interrupted",
                "It holds what was found until then; the same command again goes on from here."});
  section.blocks.emplace_back(key_figures(view));
  if (view.on_gpu())
    section.blocks.emplace_back(
        Paragraph{fmt::format("Every number of this report is of one scenario: {}.", scenario_text(view.run))});
  const auto& verdict = view.run.verdict;
  if (!verdict || verdict->decision == Decision::none) return section;
  if (view.changes()) {
    add_changes(section, view);
  }
  // Of the defaults that are kept there is nothing to show.
  if (const auto shown = schema::without_candidate(spelled_out(view.run)); view.changes() || !shown.empty()) {
    section.blocks.emplace_back(
        Paragraph{fmt::format("The {} configuration; a setting that is absent stays at the runtime's default:",
                              view.changes() ? "recommended" : "current")});
    section.blocks.emplace_back(
        CodeBlock{"yaml", to_yaml(shown, analysis::config_section(view.run, verdict->configuration))});
  }
  return section;
}

}  // namespace ridgeline::report
