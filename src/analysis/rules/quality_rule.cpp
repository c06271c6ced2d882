// SPDX-License-Identifier: Apache-2.0
// Quality flags of the measurements, one finding a kind of flag.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"

namespace ridgeline::analysis {
namespace {

struct FlagText {
  const char* code;
  const char* title;  ///< after "3 of 20 trials " or "1 of 2 comparisons "
  const char* advice;
  bool of_unrest = false;  ///< Finding::of_unrest
};

constexpr FlagText kTexts[] = {
    {"not_steady", "did not settle during warm-up", "Raise --warmup, or close other programs", true},
    {"few_samples", "ended with few samples",
     "Raise --max-time or --runs; percentiles need 100 (p90) to 1000 (p99) samples"},
    {"wide_interval", "ended with a wide interval", "Raise --max-time, or repeat on a quieter machine", true},
    {"drift", "drifted while they were timed", "Repeat on an idle machine", true},
    {"disturbed", "were disturbed by other processes", "Repeat on an idle machine", true},
    {"stolen", "had processor time taken by the hypervisor",
     "Repeat at another time, or on a machine whose processors are not shared", true},
    {"others_throughout", "were disturbed by other processes all the time", "Repeat while nothing else runs", true},
    {"tf32", "ran in TF32 and differ from FP32 by more than rounding",
     "allow_tf32=false computes in FP32; with a metric, the model's own measure decides"},
    {"throttled", "ran at a reduced clock",
     "Where heat holds it down, improve cooling and repeat; at its power limit a card does no better under full load"},
    {"gpu_shared", "shared the GPU with other processes", "Stop them, or tune another GPU (--devices)"},
    {"waiting_arm_computed", "had an arm that computed while the other one was timed",
     "Repeat; a process that was to stand still went on"},
    {"few_rounds", "were over fewer pairs of sessions than planned", "Raise --max-time, then repeat"},
    {"graph_breaks", "ran in several graphs with Python between them",
     "Take what breaks the graph out of forward(); TORCH_LOGS=graph_breaks names the lines"},
    {"recompilations", "compiled more than once", "Give inputs of one shape, or expect each new shape to compile once"},
    {"cancelled", "were cut short", "Run the same command again: it continues where it stopped"},
};

struct FlagGroup {
  std::vector<int> ids;
  std::string message;
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
    std::string message;
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
                        fmt::format("{} of {} comparisons {}{}", group.count, run.pairs.size(), text_of(code)->title,
                                    group.deciding ? ", the deciding one among them" : ""),
                        group.message, text_of(code)->advice, text_of(code)->of_unrest});
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
                        fmt::format("{} of {} trials {}{}", group.ids.size(), measured,
                                    text != nullptr ? text->title : fmt::format("carry the flag {}", code),
                                    group.chosen ? evidence.chosen_among_them() : ""),
                        fmt::format("{}; {}", trials_text(group.ids), group.message),
                        text != nullptr ? text->advice : "", text != nullptr && text->of_unrest});
  }
  auto compared = of_comparisons(evidence.run);
  findings.insert(findings.end(), std::make_move_iterator(compared.begin()), std::make_move_iterator(compared.end()));
  return findings;
}

}  // namespace ridgeline::analysis
