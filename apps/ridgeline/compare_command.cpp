// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "analysis/comparison.hpp"
#include "analysis/comparison_text.hpp"
#include "base/text.hpp"
#include "campaign/profile/profile_files.hpp"
#include "report/renderers.hpp"
#include "ridgeline/compare_runs.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/kinds.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {
namespace {

constexpr double kProfileEffect = 0.02;  // steps of one process have no run-to-run difference to allow for

struct CompareFlags {
  std::string a;
  std::string b;
  std::optional<double> min_effect;
  bool json = false;
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
std::string advice(const schema::Comparison& comparison, double min_effect) {
  if (comparison.verdict != schema::Verdict::inconclusive) return "";
  const double floor = analysis::separate_floor();
  if (min_effect >= floor) return "measure longer with --runs or --trial-time";
  // The share that this interval lies within would do; where it is mostly scatter, that one is of no use to anybody.
  const double least = std::ceil(floor * 100);
  const double reach = std::ceil(std::max(comparison.high, 1 / comparison.low) * 100 - 100);
  const bool scatter = reach > 2 * least;
  return fmt::format(
      "two separate runs cannot tell less than about {:.1f} % apart, however long they are; use --min-effect "
      "{:.0f}%{}, or measure both in one tune run",
      floor * 100, scatter ? least : std::max(least, reach),
      scatter ? " and measure longer with --runs or --trial-time" : "");
}

std::string sentence(const run::RunComparison& found, const CompareFlags& flags, double min_effect) {
  switch (found.comparison.verdict) {
    case schema::Verdict::faster: return fmt::format("{} is faster", flags.b);
    case schema::Verdict::slower: return fmt::format("{} is slower", flags.b);
    case schema::Verdict::no_difference: return "no difference worth speaking of";
    case schema::Verdict::inconclusive:
      return "inconclusive: the interval is too wide" +
             (found.details.is_null() ? "; " + advice(found.comparison, min_effect) : std::string());
  }
  return "";
}

/// A run of the store, or one that is made of a profiler's file and not kept.
base::Result<run::TrialName> find_side(store::Store& store, const std::string& reference) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(reference, ignored)) return run::find_trial(store, reference);
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

base::Result<int> compare(const CompareFlags& flags, const Context& context) {
  RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
  RL_TRY_ASSIGN(const auto name_a, find_side(store, flags.a));
  RL_TRY_ASSIGN(const auto name_b, find_side(store, flags.b));
  const bool of_profiles = name_a.run.kind == schema::ProfileRun::kLayout.kind;
  const double min_effect = flags.min_effect.value_or(of_profiles ? kProfileEffect : analysis::separate_min_effect());
  RL_TRY_ASSIGN(const auto found, known_kinds().compare(name_a, name_b, store, min_effect));
  const auto& a = found.a;
  const auto& b = found.b;
  const auto& comparison = found.comparison;
  const bool same_record = a.key == b.key;
  const bool worse = comparison.verdict == schema::Verdict::slower;
  // Traces of a step each have none.
  const bool has_interval =
      found.details.is_null() || comparison.low > 1 / analysis::kUnbounded || comparison.high < analysis::kUnbounded;
  const int code = exit_code_of(comparison.verdict, same_record, flags);
  if (flags.json) {
    base::Json out = comparison;
    if (has_interval && analysis::is_too_wide(comparison)) out["ratio"] = nullptr;
    out["a"] = a.name;
    out["b"] = b.name;
    out["min_effect"] = min_effect;
    out["same_record"] = same_record;
    out["advice"] = same_record ? "" : advice(comparison, min_effect);
    out["differences"] = differences(a, b);
    out["confidence"] = found.confidence;
    if (!found.details.is_null()) out["details"] = found.details;
    fmt::print("{}\n", base::dump_json(out));
    return code;
  }
  const auto terminal = inspect_terminal(stdout);
  fmt::print("A  {}  {}  {}\nB  {}  {}  {}\n\n", a.name, a.figure, a.measured_utc, b.name, b.figure, b.measured_utc);
  if (same_record) {
    fmt::print("A and B are the same record, so there is nothing to compare; measure it again: ridgeline rerun {}\n",
               b.name);
    return code;
  }
  const Style style = worse ? Style::bad : comparison.verdict == schema::Verdict::faster ? Style::good : Style::accent;
  const auto ratio = styled(fmt::format("{:.3f} times", comparison.ratio), style, terminal.colour);
  if (has_interval && analysis::is_too_wide(comparison))
    fmt::print("A and B: {} for a ratio: {}\n", analysis::kTooFewMeasurements, sentence(found, flags, min_effect));
  else if (has_interval)
    fmt::print("B is {} as fast as A, {:.0f} % interval {:.3f} to {:.3f}{}: {}\n", ratio, 100 * found.confidence,
               comparison.low, comparison.high, analysis::tail_note(comparison), sentence(found, flags, min_effect));
  else
    fmt::print("B is {} as fast as A by what there is\n", ratio);
  for (const auto& line : differences(a, b)) fmt::print("  {}\n", line);
  for (const auto& line : found.lines) fmt::print("{}\n", line);
  return code;
}

}  // namespace

void add_comparison(CLI::App& app, Context& context, const std::string& name, const std::string& description,
                    const std::string& example) {
  auto flags = std::make_shared<CompareFlags>();
  auto* command =
      add_subcommand(app, context, name, description, example, [flags, &context] { return compare(*flags, context); });
  command->add_option("A", flags->a, "Run (its recommended trial), RUN/TRIAL, or a file of a profiler")->required();
  command->add_option("B", flags->b, "The one to judge against A")->required();
  add_share(*command, "--min-effect", flags->min_effect,
            fmt::format("Smaller differences are none (default {}, of profiles {})",
                        share_text(analysis::separate_min_effect()), share_text(kProfileEffect)));
  add_choice(*command, context, "--undecided", flags->undecided, {"pass", "fail"},
             "What an inconclusive comparison is to a script: exit code 0, or 4");
  command->add_flag("--json", flags->json, "As JSON");
  add_database_option(*command, context);
}

void add_compare(CLI::App& app, Context& context) {
  add_comparison(
      app, context, "compare", "Ratio of two runs with its interval; exit code 1 on a slow-down",
      "  ridgeline compare 20261120-0900 latest\n"
      "  ridgeline compare RUN_A/3 RUN_B/7 --min-effect 5%     (single trials)\n"
      "In CI measure both sides in one job, and again (ridgeline rerun) before you believe a slow-down: on a shared\n"
      "machine about one comparison in ten is a false alarm; docs/compare.md\n"
      "  ridgeline compare before.json.gz after.json.gz        (traces: docs/profile.md)");
}

}  // namespace ridgeline::app
