// SPDX-License-Identifier: Apache-2.0
#include "analysis/lost_loss.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analysis/messages.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::BenchTrial;
using schema::Message;

constexpr std::size_t kMostNamed = 4;  ///< settings in one sentence

struct Losses {
  std::vector<const BenchTrial*> lost;
  std::vector<const BenchTrial*> kept;
};

Losses losses_of(const schema::BenchRun& run) {
  Losses out;
  for (const auto& trial : run.trials) {
    if (!trial.outcome.measurement || trial.data == schema::DataMode::loader_only) continue;
    (schema::has_lost_loss(*trial.outcome.measurement) ? out.lost : out.kept).push_back(&trial);
  }
  return out;
}

std::set<AmpMode> precisions(const std::vector<const BenchTrial*>& trials) {
  std::set<AmpMode> out;
  for (const auto* trial : trials) out.insert(trial->settings.amp);
  return out;
}

bool smaller_batch(const BenchTrial* a, const BenchTrial* b) { return a->settings.batch < b->settings.batch; }

/// What the settings without a finite loss have in common, and no other has.
Message common(const Losses& losses, const std::string& device) {
  if (losses.kept.empty()) return messages::bench_lost_everywhere();
  const auto lost = precisions(losses.lost);
  const auto kept = precisions(losses.kept);
  if (lost.size() == 1 && kept.count(*lost.begin()) == 0) {
    using Precision = messages::BenchLostWithPrecisionPrecision;
    const auto amp = *lost.begin();
    return messages::bench_lost_with_precision(amp == AmpMode::fp16   ? Precision::fp16
                                               : amp == AmpMode::bf16 ? Precision::bf16
                                                                      : Precision::fp32);
  }
  const auto [lost_low, lost_high] = std::minmax_element(losses.lost.begin(), losses.lost.end(), smaller_batch);
  const auto [kept_low, kept_high] = std::minmax_element(losses.kept.begin(), losses.kept.end(), smaller_batch);
  if (smaller_batch(*kept_high, *lost_low))
    return messages::bench_lost_by_batch({.batch = (*lost_low)->settings.batch, .larger = true});
  if (smaller_batch(*lost_high, *kept_low))
    return messages::bench_lost_by_batch({.batch = (*lost_high)->settings.batch, .larger = false});
  std::vector<std::string> settings;
  for (const auto* trial : losses.lost) {
    auto name = schema::describe(trial->settings, device);
    if (std::find(settings.begin(), settings.end(), name) == settings.end()) settings.push_back(std::move(name));
  }
  const auto others = settings.size() > kMostNamed ? settings.size() - kMostNamed : 0;
  settings.resize(settings.size() - others);
  return messages::bench_lost_under(
      {.settings = std::move(settings),
       .others = others > 0 ? std::optional(static_cast<std::int64_t>(others)) : std::nullopt});
}

}  // namespace

bool some_keep_their_loss(const schema::BenchRun& run) { return !losses_of(run).kept.empty(); }

std::optional<LostLosses> lost_losses(const schema::BenchRun& run) {
  const auto losses = losses_of(run);
  if (losses.lost.empty()) return std::nullopt;
  LostLosses out;
  out.first = losses.lost.front();
  for (const auto* trial : losses.lost)
    if (const auto at = trial->outcome.measurement->resources.lost_at_step)
      out.step = std::min(out.step.value_or(*at), *at);
  out.lost = static_cast<std::int64_t>(losses.lost.size());
  out.trained = static_cast<std::int64_t>(losses.lost.size() + losses.kept.size());
  out.where = common(losses, run.device);
  return out;
}

}  // namespace ridgeline::analysis
