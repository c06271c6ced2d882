// SPDX-License-Identifier: Apache-2.0
// Quality flags of the measurements, one finding a kind of flag.
#include <algorithm>
#include <map>
#include <set>

#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

using What = messages::FlaggedWhat;

struct FlagText {
  const char* code;
  What what;
  schema::Message (*advice)();
  bool of_unrest = false;  ///< Finding::of_unrest
};

constexpr FlagText kTexts[] = {
    {"not_steady", What::not_steady, messages::advise_warm_up, true},
    {"few_samples", What::few_samples, messages::advise_more_samples},
    {"wide_interval", What::wide_interval, messages::advise_more_time, true},
    {"drift", What::drift, messages::advise_idle_machine, true},
    {"disturbed", What::disturbed, messages::advise_idle_machine, true},
    {"stolen", What::stolen, messages::advise_own_processors, true},
    {"others_throughout", What::others_throughout, messages::advise_nothing_else, true},
    {"tf32", What::tf32, messages::advise_fp32},
    {"throttled", What::throttled, messages::advise_cooling},
    {"gpu_shared", What::gpu_shared, messages::advise_other_gpu},
    {"waiting_arm_computed", What::waiting_arm_computed, messages::advise_repeat},
    {"few_rounds", What::few_rounds, messages::advise_longer},
    {"graph_breaks", What::graph_breaks, messages::advise_graph_breaks},
    {"recompilations", What::recompilations, messages::advise_one_shape},
    {"cancelled", What::cancelled, messages::continue_run},
};

struct FlagGroup {
  std::vector<int> ids;
  schema::Message message;
  bool chosen = false;
};

const FlagText* text_of(std::string_view code) {
  const auto* found =
      std::find_if(std::begin(kTexts), std::end(kTexts), [&](const auto& row) { return row.code == code; });
  return found != std::end(kTexts) ? found : nullptr;
}

/// Flags of comparisons; those of the settings themselves are the trials' too and not said again.
std::vector<Finding> of_comparisons(const schema::TuneRun& run) {
  struct Comparisons {
    int count = 0;
    schema::Message message;
    bool deciding = false;
  };
  std::map<std::string, Comparisons> groups;
  for (const auto& pair : run.pairs) {
    std::set<std::string> counted;
    for (const auto& flag : pair.flags) {
      if (flag.level == schema::FlagLevel::info || text_of(flag.code) == nullptr) continue;
      if (!counted.insert(flag.code).second) continue;
      auto& group = groups[flag.code];
      if (group.count++ == 0) group.message = flag.message;
      group.deciding = group.deciding || (pair.purpose == schema::PairPurpose::finalist && run.verdict &&
                                          pair.b == run.verdict->configuration);
    }
  }
  std::vector<Finding> findings;
  for (const auto& [code, group] : groups)
    findings.push_back({FindingKind::quality,
                        messages::flagged({.count = group.count,
                                           .all = static_cast<std::int64_t>(run.pairs.size()),
                                           .comparisons = true,
                                           .what = text_of(code)->what,
                                           .flag = code,
                                           .among = group.deciding,
                                           .best = false}),
                        group.message, text_of(code)->advice(), text_of(code)->of_unrest});
  return findings;
}

}  // namespace

std::vector<Finding> quality_rule(const Evidence& evidence) {
  std::map<std::string, FlagGroup> groups;
  int measured = 0;
  for (const auto& trial : evidence.run.trials) {
    const auto at = evidence.outcomes.find(trial.key);
    if (at == evidence.outcomes.end() || !at->second.measurement) continue;
    ++measured;
    for (const auto& flag : at->second.measurement->flags) {
      if (flag.level == schema::FlagLevel::info) continue;
      // The time line of the GPU says more of these: gpu_clock_rule, gpu_neighbour_rule.
      if (at->second.measurement->gpu && (flag.code == "throttled" || flag.code == "gpu_shared")) continue;
      auto& group = groups[flag.code];
      if (!group.ids.empty() && group.ids.back() == trial.id) continue;
      if (group.ids.empty()) group.message = flag.message;
      group.ids.push_back(trial.id);
      group.chosen = group.chosen || (evidence.chosen != nullptr && evidence.chosen->trial->id == trial.id);
    }
  }
  std::vector<Finding> findings;
  for (const auto& [code, group] : groups) {
    const auto* text = text_of(code);
    findings.push_back({FindingKind::quality,
                        messages::flagged({.count = static_cast<std::int64_t>(group.ids.size()),
                                           .all = measured,
                                           .comparisons = false,
                                           .what = text != nullptr ? text->what : What::other,
                                           .flag = code,
                                           .among = group.chosen,
                                           .best = evidence.chosen_is_best()}),
                        messages::flagged_evidence({.trials = group.ids, .what = group.message}),
                        text != nullptr ? text->advice() : schema::Message(), text != nullptr && text->of_unrest});
  }
  auto compared = of_comparisons(evidence.run);
  findings.insert(findings.end(), std::make_move_iterator(compared.begin()), std::make_move_iterator(compared.end()));
  return findings;
}

}  // namespace ridgeline::analysis
