// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "analysis/comparison.hpp"
#include "analysis/comparison_text.hpp"
#include "base/text.hpp"
#include "report/messages.hpp"
#include "report/simulated.hpp"
#include "ridgeline/kinds.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/words.hpp"

namespace ridgeline::app {
namespace {

struct RerunFlags {
  std::string trial;
  bool json = false;
};

std::string verdict_words(schema::Verdict verdict) {
  switch (verdict) {
    case schema::Verdict::faster: return "faster now";
    case schema::Verdict::slower: return "slower now";
    case schema::Verdict::no_difference: return "no significant difference";
    case schema::Verdict::inconclusive: break;
  }
  return fmt::format(
      "inconclusive: the interval is too wide; two separate runs cannot show differences below about {:.1f} %",
      analysis::separate_floor() * 100);
}

std::string difference_words(const run::RunComparison& found) {
  switch (found.comparison.verdict) {
    case schema::Verdict::faster: return "better now";
    case schema::Verdict::slower: return "worse now";
    case schema::Verdict::no_difference: return fmt::format("no difference of {:g} or more", found.min_effect);
    case schema::Verdict::inconclusive: break;
  }
  return found.difference->has_interval ? "inconclusive: the interval is too wide"
                                        : "inconclusive: the combination was measured only once; use sweep --repeat";
}

base::Result<int> rerun(const RerunFlags& flags, const Context& context) {
  RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
  const auto slash = flags.trial.find('/');
  const bool bare_number = slash == std::string::npos &&
                           flags.trial.find_first_not_of("0123456789") == std::string::npos && flags.trial.size() < 6;
  RL_TRY_ASSIGN(const auto asked, run::find_trial(store, bare_number ? "latest/" + flags.trial : flags.trial));
  const auto kinds = known_kinds();
  RL_TRY_ASSIGN(const auto* kind, kinds.of(asked.run));
  RL_TRY_ASSIGN(const auto found, kind->rerun(asked, store));
  const auto& before = found.a;
  const auto& now = found.b;
  const auto& comparison = found.comparison;
  const bool simulated = report::is_simulated(asked.run);
  const bool worse = comparison.verdict == schema::Verdict::slower;
  if (flags.json) {
    base::Json out = comparison;
    if (analysis::is_too_wide(comparison)) out["ratio"] = nullptr;
    out["compared_by"] = found.difference ? "difference" : "ratio";
    if (found.difference) {
      for (const auto* key : {"ratio", "low", "high", "p_value"}) out[key] = nullptr;
      out["difference"] = *found.difference;
    }
    out["trial"] = before.name;
    out["simulated"] = simulated;
    fmt::print("{}\n", base::dump_json(out));
    return worse ? kFinding : kOk;
  }
  if (simulated) fmt::print("{}\n", words().text(report::messages::simulated()));
  fmt::print("{}  {}\n", before.name, before.facts.empty() ? "" : before.facts.front().second);
  fmt::print("then  {}  ({})\nnow   {}\n", before.figure, before.measured_utc, now.figure);
  if (found.difference)
    fmt::print("now - then: {}: {}\n", analysis::difference_text(*found.difference), difference_words(found));
  else if (analysis::is_too_wide(comparison) && analysis::has_bound(comparison))
    fmt::print("{}: {}\n", analysis::bound_text(comparison, "times as fast"), verdict_words(comparison.verdict));
  else if (analysis::is_too_wide(comparison))
    fmt::print("{} for a ratio: {}\n", analysis::kTooFewMeasurements, verdict_words(comparison.verdict));
  else
    fmt::print("ratio {:.3f}, 95 % interval {:.3f} to {:.3f}{}: {}\n", comparison.ratio, comparison.low,
               comparison.high, analysis::tail_note(comparison), verdict_words(comparison.verdict));
  return worse ? kFinding : kOk;
}

}  // namespace

void add_rerun(CLI::App& app, Context& context) {
  auto flags = std::make_shared<RerunFlags>();
  auto* command =
      add_subcommand(app, context, "rerun",
                     "Measure one trial again and compare it with its stored result; exit code 1 if it is slower",
                     "  ridgeline rerun 20261121-0815/7\n  ridgeline rerun 7                    (of the latest run)",
                     [flags, &context] { return rerun(*flags, context); });
  command
      ->add_option("TRIAL", flags->trial, "RUN/TRIAL, RUN (its recommended trial), or a trial number of the latest run")
      ->required();
  command->add_flag("--json", flags->json, "Print as JSON");
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
