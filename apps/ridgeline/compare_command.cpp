// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "analysis/comparison.hpp"
#include "analysis/comparison_text.hpp"
#include "analysis/profile_comparison.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "campaign/profile/profile_files.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/renderers.hpp"
#include "report/simulated.hpp"
#include "ridgeline/compare_runs.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/kinds.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/words.hpp"

namespace ridgeline::app {
namespace {

constexpr std::size_t kShownLines = 12;  // of what makes up a difference between two profiles

struct CompareFlags {
  std::string a;
  std::string b;
  std::optional<double> min_effect;
  bool json = false;
  bool markdown = false;
  bool all = false;
  std::string undecided = "pass";
};

/// What else differs: a slow-down usually has its reason here.
std::vector<std::string> differences(const run::Compared& a, const run::Compared& b) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(a.facts.size(), b.facts.size()); ++i)
    if (a.facts[i].second != b.facts[i].second)
      lines.push_back(fmt::format("{}: {} -> {}", a.facts[i].first, a.facts[i].second, b.facts[i].second));
  return lines;
}

/// What would lead to an answer where there is none; "" where there is one.
std::string advice(const run::RunComparison& found) {
  const auto& comparison = found.comparison;
  const double min_effect = found.min_effect;
  if (comparison.verdict != schema::Verdict::inconclusive) return "";
  if (found.difference) return "measure more rounds with sweep --repeat, or use a larger --min-effect";
  const double floor = analysis::separate_floor();
  if (min_effect >= floor) return "measure longer with --runs or --time";
  // The share that this interval lies within would do; where it is mostly scatter, that one is of no use to anybody.
  const double least = std::ceil(floor * 100);
  const double reach = std::ceil(std::max(comparison.high, 1 / comparison.low) * 100 - 100);
  const bool scatter = reach > 2 * least;
  return fmt::format(
      "two separate runs cannot show differences below about {:.1f} %, however long they are; use --min-effect "
      "{:.0f}%{}, or measure both in one tune run",
      floor * 100, scatter ? least : std::max(least, reach),
      scatter ? " and measure longer with --runs or --time" : "");
}

std::string sentence(const run::RunComparison& found, const CompareFlags& flags) {
  switch (found.comparison.verdict) {
    case schema::Verdict::faster: return fmt::format("{} is faster", flags.b);
    case schema::Verdict::slower: return fmt::format("{} is slower", flags.b);
    case schema::Verdict::no_difference: return "no significant difference";
    case schema::Verdict::inconclusive:
      return "inconclusive: the interval is too wide" +
             (found.details.is_null() ? "; " + advice(found) : std::string());
  }
  return "";
}

/// What stands for the sentence where there is a difference in place of a ratio.
std::string difference_sentence(const run::RunComparison& found, const CompareFlags& flags) {
  switch (found.comparison.verdict) {
    case schema::Verdict::faster: return fmt::format("{} is better", flags.b);
    case schema::Verdict::slower: return fmt::format("{} is worse", flags.b);
    case schema::Verdict::no_difference: return fmt::format("no difference of {:g} or more", found.min_effect);
    case schema::Verdict::inconclusive: break;
  }
  return fmt::format("inconclusive: {}; {}",
                     found.difference->has_interval ? "the interval is too wide" : "one of them was measured only once",
                     advice(found));
}

base::Json json_of(const run::RunComparison& found, bool has_interval) {
  const auto& comparison = found.comparison;
  base::Json out = comparison;
  if ((has_interval && analysis::is_too_wide(comparison)) || !found.not_comparable.empty()) out["ratio"] = nullptr;
  out["not_comparable"] = found.not_comparable;
  out["compared_by"] = found.difference ? "difference" : "ratio";
  if (found.difference) {
    for (const auto* key : {"ratio", "low", "high", "p_value"}) out[key] = nullptr;
    out["difference"] = *found.difference;
  }
  const bool same_record = found.a.key == found.b.key;
  out["a"] = found.a.name;
  out["b"] = found.b.name;
  out["min_effect"] = found.min_effect;
  out["same_record"] = same_record;
  out["advice"] = same_record ? "" : advice(found);
  out["differences"] = differences(found.a, found.b);
  out["confidence"] = found.confidence;
  if (!found.details.is_null()) out["details"] = found.details;
  return out;
}

/// A path or a name with an ending, which no run and no RUN/TRIAL has.
bool names_file(const std::string& reference) {
  const auto folder = reference.rfind('/');
  const auto name = folder == std::string::npos ? reference : reference.substr(folder + 1);
  const bool is_trial = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  return reference.find('.') != std::string::npos || (folder != std::string::npos && (folder == 0 || !is_trial));
}

/// A run of the store, or one that is made of a profiler's file and not kept.
base::Result<run::TrialName> find_side(store::Store& store, const std::string& reference) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(reference, ignored)) {
    if (!names_file(reference)) return run::find_trial(store, reference);
    return base::fail(base::ErrorCode::not_found, "{}: {}", reference,
                      std::filesystem::exists(reference, ignored) ? "not a regular file" : "no such file")
        .hint("expected a profiler's file, or a run from the list of `ridgeline history`");
  }
  RL_TRY_ASSIGN(auto files, campaign::profile_files({reference}));
  schema::ProfileRun profile;
  profile.id = reference;
  profile.sources = std::move(files.sources);
  profile.notes = std::move(files.notes);
  profile.tables = std::move(files.tables);
  profile.findings = std::move(files.findings);
  return run::TrialName{to_run(profile), 0};
}

int exit_code_of(schema::Verdict verdict, bool same_record, const CompareFlags& flags) {
  const bool undecided = same_record || verdict == schema::Verdict::inconclusive;
  if (!undecided) return verdict == schema::Verdict::slower ? kFinding : kOk;
  return flags.undecided == "fail" ? kNoAnswer : kOk;
}

/// The verdict in one sentence.
std::string verdict_of(const run::RunComparison& found, const CompareFlags& flags, bool has_interval) {
  const auto& comparison = found.comparison;
  if (!found.not_comparable.empty()) return found.not_comparable;
  if (found.difference)
    return fmt::format("B - A: {}: {}", analysis::difference_text(*found.difference),
                       difference_sentence(found, flags));
  if (has_interval && analysis::is_too_wide(comparison) && analysis::has_bound(comparison))
    return fmt::format("B is {}: {}", analysis::bound_text(comparison, "times as fast as A"), sentence(found, flags));
  if (has_interval && analysis::is_too_wide(comparison))
    return fmt::format("A and B: {} for a ratio: {}", analysis::kTooFewMeasurements, sentence(found, flags));
  if (has_interval)
    return fmt::format("B is {:.3f} times as fast as A, {:.0f} % interval {:.3f} to {:.3f}{}: {}", comparison.ratio,
                       100 * found.confidence, comparison.low, comparison.high, analysis::tail_note(comparison),
                       sentence(found, flags));
  return fmt::format("B is {:.3f} times as fast as A; too few measurements for an interval", comparison.ratio);
}

/// What to do next.
std::string next_of(const run::RunComparison& found, const CompareFlags& flags) {
  if (found.comparison.verdict == schema::Verdict::slower && found.details.is_null())
    return fmt::format("To confirm it, measure again: ridgeline rerun {}", flags.b);
  return fmt::format("All of B: ridgeline show {} --all", flags.b);
}

/// The comparison as a command and a report show it.
report::ReportModel shown_of(const run::RunComparison& found, const CompareFlags& flags, bool same_record,
                             bool has_interval) {
  const auto& a = found.a;
  const auto& b = found.b;
  report::ReportModel out;
  out.asked = fmt::format("{} (A) and {} (B)", flags.a, flags.b);
  auto& blocks = out.answer.blocks;
  const auto verdict = found.comparison.verdict;
  if (same_record)
    blocks.emplace_back(report::Callout{report::Tone::warning,
                                        "A and B are the same record, so there is nothing to compare",
                                        fmt::format("measure it again: ridgeline rerun {}", b.name)});
  else
    blocks.emplace_back(report::Callout{verdict == schema::Verdict::slower   ? report::Tone::bad
                                        : verdict == schema::Verdict::faster ? report::Tone::good
                                                                             : report::Tone::neutral,
                                        verdict_of(found, flags, has_interval),
                                        {}});
  blocks.emplace_back(
      report::Facts{{{"A", fmt::format("{}  {}  {}", a.name, a.figure, base::local_time(a.measured_utc))},
                     {"B", fmt::format("{}  {}  {}", b.name, b.figure, base::local_time(b.measured_utc))}}});
  if (same_record) return out;
  report::BulletList list;
  for (const auto& line : differences(a, b)) list.items.push_back(report::plain_text(line));
  if (!list.items.empty()) blocks.emplace_back(std::move(list));
  blocks.emplace_back(report::Paragraph{next_of(found, flags)});
  if (found.lines.empty()) return out;
  const auto count = flags.all ? found.lines.size() : std::min(kShownLines, found.lines.size());
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) lines += found.lines[i] + "\n";
  blocks.emplace_back(report::CodeBlock{"text", lines});
  if (count < found.lines.size())
    blocks.emplace_back(report::Paragraph{fmt::format("{} more lines: --all", found.lines.size() - count)});
  return out;
}

base::Result<int> compare(const CompareFlags& flags, const Context& context) {
  RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
  RL_TRY_ASSIGN(const auto name_a, find_side(store, flags.a));
  RL_TRY_ASSIGN(const auto name_b, find_side(store, flags.b));
  RL_TRY_ASSIGN(const auto found, known_kinds().compare(name_a, name_b, store, flags.min_effect));
  if (!found.difference && found.min_effect >= 1)
    return base::fail(base::ErrorCode::invalid_argument,
                      "--min-effect {:g}: these runs are compared by their ratio, expected a share from 0% to below "
                      "100%",
                      found.min_effect)
        .hint("for example --min-effect 5%");
  const auto& comparison = found.comparison;
  const bool same_record = found.a.key == found.b.key;
  // Traces of a step each have none.
  const bool has_interval =
      found.details.is_null() || comparison.low > 1 / analysis::kUnbounded || comparison.high < analysis::kUnbounded;
  const int code = exit_code_of(comparison.verdict, same_record, flags);
  const bool simulated = report::is_simulated(name_a.run) || report::is_simulated(name_b.run);
  if (flags.json) {
    auto out = json_of(found, has_interval);
    out["simulated"] = simulated;
    fmt::print("{}\n", base::dump_json(out));
    return code;
  }
  const auto shown = shown_of(found, flags, same_record, has_interval);
  if (flags.markdown) {
    fmt::print("{}", report::render_markdown_answer(shown));
    return code;
  }
  const auto terminal = inspect_terminal(stdout);
  if (simulated) fmt::print("{}\n", words().text(report::messages::simulated()));
  fmt::print("{}", answer_text(shown, terminal));
  return code;
}

}  // namespace

void add_comparison(CLI::App& app, Context& context, const std::string& name, const std::string& description,
                    const std::string& example) {
  auto flags = std::make_shared<CompareFlags>();
  auto* command =
      add_subcommand(app, context, name, description, example, [flags, &context] { return compare(*flags, context); });
  command->add_option("A", flags->a, "Run (its recommended trial), RUN/TRIAL, or a profiler's file")->required();
  command->add_option("B", flags->b, "Run or file to compare with A")->required();
  add_effect(*command, "--min-effect", flags->min_effect,
             fmt::format("Minimum difference to report (default {}, for profiles {}); for sweeps with values of 0 or "
                         "below, a number in the metric's unit (default: the sweep's own)",
                         share_text(analysis::separate_min_effect()), share_text(analysis::kProfileEffect)));
  add_choice(*command, context, "--undecided", flags->undecided, {"pass", "fail"},
             "Exit code of an inconclusive comparison: 0 with pass, 4 with fail");
  command->add_flag("--all", flags->all, "Everything that makes up the difference");
  command->add_flag("--markdown", flags->markdown, "Print as Markdown, to paste into a pull request");
  command->add_flag("--json", flags->json, "Print as JSON");
  add_database_option(*command, context);
}

void add_compare(CLI::App& app, Context& context) {
  add_comparison(app, context, "compare", "Compare two runs: ratio and its interval; exit code 1 on a slow-down",
                 "  ridgeline compare 20261120-0900 latest\n"
                 "  ridgeline compare RUN_A/3 RUN_B/7 --min-effect 5%     (single trials)\n"
                 "In CI, measure both sides in one job, and confirm a slow-down with ridgeline rerun: on a shared\n"
                 "machine about one comparison in ten is a false alarm; docs/compare.md\n"
                 "  ridgeline compare before.json.gz after.json.gz        (traces: docs/profile.md)");
}

}  // namespace ridgeline::app
