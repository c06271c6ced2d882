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
#include "report/messages.hpp"
#include "report/sections/sections.hpp"
#include "report/sections/setting_changes.hpp"
#include "report/utf8.hpp"
#include "report/yaml_text.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::report {
namespace {

constexpr std::size_t kRowsOfAnswer = 5;

using schema::Decision;
using schema::Message;
using schema::Objective;

/// nullptr also where the samples do not support the percentile that is the objective.
const analysis::RankedTrial* ranked_of(const TuneView& view, const schema::TunedTrial* trial) {
  const auto* ranked = trial != nullptr ? view.ranked(trial->id) : nullptr;
  return ranked != nullptr && has_objective(view.run, *ranked) ? ranked : nullptr;
}

/// Whoever divides the two medians of change_sentence wonders.
bool has_other_ratio(const TuneView& view) {
  const auto* best = ranked_of(view, view.recommended());
  const auto* now = ranked_of(view, view.current());
  return best != nullptr && now != nullptr && !interleaved_medians(view) &&
         !analysis::agrees(*view.run.verdict->gain, now->measured.value, best->measured.value);
}

/// Why the first row of the ranking is not the recommended one, where no comparison of the two says it.
Message first_row_sentence(const TuneView& view) {
  const auto& first = view.ranking.front();
  const auto* best = ranked_of(view, view.recommended());
  if (best == nullptr || first.trial == best->trial) return {};
  const double lead = best->cost.value / first.cost.value - 1;
  return messages::tune_ranks_first({.trial = first.trial->id,
                                     .corrected = analysis::is_corrected(view.ranking),
                                     .lead = lead,
                                     .little = lead <= view.run.request.min_effect});
}

/// Why a trial that was faster than the recommended one is not the recommended one.
Message head_to_head_sentence(const TuneView& view) {
  using enum messages::TuneHeadToHeadFound;
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
    if (lead < view.run.request.min_effect / 2) continue;  // nobody wonders
    const auto found = won_as_b ? *pair.comparison : analysis::inverted(*pair.comparison);
    return messages::tune_head_to_head({.trial = other->trial->id,
                                        .lead = lead,
                                        .corrected = analysis::is_corrected(view.ranking),
                                        .found = found.verdict == schema::Verdict::faster ? faster
                                                 : analysis::is_no_slower(found, view.run.request.min_effect)
                                                     ? no_slower
                                                     : same,
                                        .ratio = ratio_of(found),
                                        .interval = interval_of(found),
                                        .limit = view.run.request.min_effect});
  }
  return first_row_sentence(view);
}

/// What the recommended configuration costs before its first fast call, and when that has been earned.
Message compile_sentence(const TuneView& view) {
  using enum messages::TuneFirstCallWhat;
  const auto cost = analysis::compile_cost(view.run, view.outcomes, view.ranking);
  if (!cost) return {};
  const auto& configuration = view.run.verdict->configuration;
  // Three digits: it is no more certain than that.
  const double calls = cost->pays_after_calls.value_or(0);
  const double step = calls >= 1000 ? std::pow(10, std::floor(std::log10(calls)) - 2) : 1;
  return messages::tune_first_call(
      {.what = configuration.contains("torch_compile") ? compiling
               : configuration.contains("torchscript") ? tracing
                                                       : capturing,
       .warm = cost->from_warm_cache,
       .time = cost->seconds * 1e9,
       .calls = calls > 0 ? std::optional(std::llround(std::ceil(calls / step) * step)) : std::nullopt});
}

/// Of a recommendation without a comparison.
std::string uncompared_sentence(const TuneView& view) {
  return view.text(messages::tune_nothing_compared()) + " " +
         link_trials(view, sentence(plain_text(view.text(view.run.verdict->reason))));
}

/// How much faster it is, by which numbers.
std::vector<Message> gain_sentences(const TuneView& view) {
  const auto& verdict = *view.run.verdict;
  std::vector<Message> out;
  const auto* in_use = view.current() != nullptr ? view.ranked(view.current()->id) : nullptr;
  if (in_use != nullptr && !in_use->meets_constraints) out.push_back(messages::tune_breaks(in_use->broken_constraint));
  messages::TuneChange change{.rate = view.run.request.objective == Objective::throughput,
                              .gain = gain_phrase(view.run.request.objective, *verdict.gain),
                              .interval = interval_of(*verdict.gain),
                              .objective = objective_name(view.run.request.objective)};
  if (view.recommended() != nullptr) change.trial = verdict.trial_id;
  const auto* best = ranked_of(view, view.recommended());
  const auto* now = ranked_of(view, view.current());
  if (best != nullptr && now != nullptr) {
    const auto turns = interleaved_medians(view);
    change.best = view.objective.quantity(turns ? turns->b_ns : best->measured.value);
    change.now = view.objective.quantity(turns ? turns->a_ns : now->measured.value);
    change.interleaved = turns.has_value();
  }
  out.push_back(messages::tune_change(change));
  return out;
}

std::string change_sentence(const TuneView& view) {
  if (!view.run.verdict->gain) return uncompared_sentence(view);
  auto out = gain_sentences(view);
  if (has_other_ratio(view)) out.push_back(messages::tune_other_times());
  for (auto& more : {head_to_head_sentence(view), compile_sentence(view)})
    if (!more.empty()) out.push_back(more);
  return link_trials(view, fmt::format("{}", fmt::join(view.words.texts(out), " ")));
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
  if (!analysis::tried_others(view.run)) return view.text(messages::tune_no_other());
  const auto* undecided = analysis::undecided_finalist(view.run);
  if (verdict.reason.empty() && undecided != nullptr)
    return view.text(messages::tune_best_unclear(
        {.ratio = ratio_of(*undecided->comparison), .interval = interval_of(*undecided->comparison)}));
  if (!verdict.gain && !verdict.reason.empty()) return link_trials(view, sentence(plain_text(undecided_reason(view))));
  messages::TuneNotBeaten out{.effect = view.run.request.min_effect};
  if (verdict.gain) {
    out.ratio = ratio_of(*verdict.gain);
    out.interval = interval_of(*verdict.gain);
  }
  return view.text(messages::tune_not_beaten(out));
}

Callout verdict_callout(const TuneView& view, bool in_short) {
  const auto decision = view.run.verdict ? view.run.verdict->decision : Decision::none;
  if (decision == Decision::change && in_short && view.run.verdict->gain)
    return {Tone::good, "Change the configuration",
            link_trials(view, fmt::format("{}", fmt::join(view.words.texts(gain_sentences(view)), " ")))};
  if (decision == Decision::change) return {Tone::good, "Change the configuration", change_sentence(view)};
  if (decision == Decision::keep && analysis::is_undecided(view.run))
    return {Tone::warning, "Not decided", keep_sentence(view)};
  if (decision == Decision::keep) return {Tone::neutral, "Keep what you have", keep_sentence(view)};
  const auto reason = view.run.verdict
                          ? link_trials(view, sentence(plain_text(view.words.text(view.run.verdict->reason))))
                          : std::string();
  return {Tone::warning, "No verdict", reason.empty() ? view.text(messages::tune_ended_early()) : reason};
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
      out.figures.push_back({mark.empty() ? "Gain" : "Gain, " + mark, view.text(times_of(*gain)),
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
  std::vector<std::string> notes;
  using enum messages::TuneEndedHow;
  const auto add = [&](std::size_t count, messages::TuneEndedHow how) {
    if (count > 0)
      notes.push_back(view.text(messages::tune_ended({.trials = static_cast<std::int64_t>(count), .how = how})));
  };
  add(endings.unsuccessful, failed);
  add(endings.stopped_early, stopped);
  add(endings.unfinished, unfinished);
  if (notes.empty() && endings.completed > 0) notes.push_back(view.text(messages::tune_all_ended()));
  add(stored, cached);
  out.figures.push_back(
      {"Trials", fmt::format("{}", view.run.trials.size()), fmt::format("{}", fmt::join(notes, ", ")), Tone::neutral});
  out.figures.push_back(
      {"Search time", base::format_duration(view.run.duration_s * 1e9),
       plain_text(view.text(messages::tune_search_note(
           {.search = view.run.request.search,
            .interrupted = view.run.interrupted,
            .stored = stored_s > view.run.duration_s ? std::optional(stored_s * 1e9) : std::nullopt}))),
       Tone::neutral});
  return out;
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
      contribution = view.text(change_of(analysis::inverted(*pair.comparison)));
  return contribution;
}

/// The settings that change, as they are written to config.yaml, and the contribution of each where it was measured.
void add_changes(Section& section, const TuneView& view) {
  Table table{"Settings that change", {{"Setting"}, {"Now"}, {"Recommended"}, {"Contribution", Align::right}}, {}};
  std::size_t absent = 0;
  for (const auto& change : changed_settings(view)) {
    auto contribution = contribution_of(view, change.key);
    absent += contribution == kAbsent ? 1 : 0;
    table.rows.push_back(
        {{code_mark(change.key), change.now, change.wanted, std::move(contribution)}, Tone::neutral, ""});
  }
  const auto& recommended = view.run.verdict->configuration;
  if (schema::candidate_of(recommended) != schema::candidate_of(view.run.current))
    section.blocks.emplace_back(Paragraph{view.text(messages::tune_other_runtime(
        {.wanted = setting_text(view.run, recommended, std::string(schema::kCandidateKey)),
         .now = setting_text(view.run, view.run.current, std::string(schema::kCandidateKey))}))});
  if (table.rows.empty()) return;
  const bool none = absent == table.rows.size();
  if (none) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.cells.pop_back();
  }
  section.blocks.emplace_back(std::move(table));
  if (absent > 0 && !none) section.blocks.emplace_back(Paragraph{view.text(messages::tune_not_separate())});
}

Callout interrupted_callout(const TuneView& view) {
  return {Tone::warning, "The run was interrupted", view.text(messages::tune_interrupted())};
}

/// What the run had no time to try.
std::optional<Paragraph> untried_paragraph(const TuneView& view) {
  if (view.run.untried.empty()) return std::nullopt;
  std::vector<Message> untried;
  for (const auto& entry : view.run.untried)
    untried.push_back(
        messages::tune_untried_one({.configuration = code_mark(entry.configuration.to_text()),
                                    .made = entry.made_for_s ? std::optional(*entry.made_for_s * 1e9) : std::nullopt}));
  return Paragraph{view.text(messages::tune_untried(untried))};
}

/// The fastest trials, with the recommended one and the one in use, by what they have other than the first of these.
std::optional<Table> fastest_trials(const TuneView& view, std::size_t most) {
  std::vector<const analysis::RankedTrial*> shown;
  const auto add = [&](const analysis::RankedTrial* ranked) {
    if (ranked != nullptr && std::find(shown.begin(), shown.end(), ranked) == shown.end()) shown.push_back(ranked);
  };
  for (const auto* trial : {view.recommended(), view.current()}) add(ranked_of(view, trial));
  for (const auto& ranked : view.ranking)
    if (shown.size() < most && has_objective(view.run, ranked)) add(&ranked);
  if (shown.size() < 2) return std::nullopt;
  const auto* base = shown.front()->trial;
  const std::string base_name = base == view.recommended() && view.changes() ? "the recommended one"
                                : base == view.current()                     ? "the one in use"
                                                                             : fmt::format("trial {}", base->id);
  std::sort(shown.begin(), shown.end());  // they lie in one list, the best first
  // By what the order goes: of an interval that is too wide for a figure its upper end, which is then shown.
  const bool corrected = analysis::is_corrected(view.ranking);
  Table table{"",
              {{"Trial", Align::right},
               {view.objective_title() + (corrected ? ", speed-corrected" : ""), Align::right},
               {"95 % interval", Align::right, !corrected},
               {"Differs from " + base_name + " in"}},
              {}};
  for (const auto* one : shown) {
    std::string settings;
    const auto& configuration = one->trial->configuration;
    for (const auto& key : schema::differing_keys(configuration, base->configuration)) {
      const auto value = schema::effective_value(configuration, key);
      settings += fmt::format("{}{}={}", settings.empty() ? "" : " ", key, value ? value->to_text() : "default");
    }
    if (one->trial == base)
      settings = fmt::format("({})", base_name);
    else if (one->trial == view.current())
      settings = "(in use now) " + settings;
    const auto& cost = corrected ? one->cost : one->measured;
    table.rows.push_back({{fmt::format("{}", one->trial->id), view.objective.text(cost.value),
                           view.objective.interval(cost.interval), plain_text(settings)},
                          one->trial == view.recommended() ? Tone::good : Tone::neutral,
                          ""});
  }
  return table;
}

}  // namespace

std::optional<analysis::ArmMedians> interleaved_medians(const TuneView& view) {
  const auto* best = ranked_of(view, view.recommended());
  const auto* now = ranked_of(view, view.current());
  const auto& verdict = *view.run.verdict;
  if (best == nullptr || now == nullptr || !verdict.gain || view.run.request.objective != Objective::latency) return {};
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

Section verdict_section(const TuneView& view) {
  Section section{"verdict", "Verdict", {}};
  section.blocks.emplace_back(verdict_callout(view, false));
  if (view.run.interrupted) section.blocks.emplace_back(interrupted_callout(view));
  if (auto untried = untried_paragraph(view)) section.blocks.emplace_back(std::move(*untried));
  section.blocks.emplace_back(key_figures(view));
  if (view.on_gpu()) section.blocks.emplace_back(Paragraph{view.text(messages::tune_scenario(view.scenario()))});
  const auto& verdict = view.run.verdict;
  if (!verdict || verdict->decision == Decision::none) return section;
  if (view.changes()) {
    add_changes(section, view);
  }
  // Of the defaults that are kept there is nothing to show.
  if (const auto shown = schema::without_candidate(spelled_out(view.run)); view.changes() || !shown.empty()) {
    section.blocks.emplace_back(Paragraph{view.text(messages::tune_configuration(view.changes()))});
    section.blocks.emplace_back(
        CodeBlock{"yaml", to_yaml(shown, analysis::config_section(view.run, verdict->configuration))});
  }
  return section;
}

Section answer_section(const TuneView& view) {
  Section section{"answer", "", {}};
  section.blocks.emplace_back(verdict_callout(view, true));
  if (view.run.interrupted) section.blocks.emplace_back(interrupted_callout(view));
  if (auto untried = untried_paragraph(view)) section.blocks.emplace_back(std::move(*untried));
  std::size_t rows = kRowsOfAnswer;
  if (view.changes()) {
    Facts changes;
    for (const auto& change : changed_settings(view))
      changes.rows.emplace_back(change.key, change.now + " → " + change.wanted);
    // All of it is one screen: many changes leave less room for the trials.
    if (changes.rows.size() > kRowsOfAnswer) rows -= std::min(rows - 2, changes.rows.size() - kRowsOfAnswer);
    if (!changes.rows.empty()) section.blocks.emplace_back(std::move(changes));
    section.blocks.emplace_back(Paragraph{view.text(messages::next_apply(view.run.id))});
  }
  if (auto table = fastest_trials(view, rows)) section.blocks.emplace_back(std::move(*table));
  return section;
}

}  // namespace ridgeline::report
