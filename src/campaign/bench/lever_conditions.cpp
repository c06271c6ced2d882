// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/lever_conditions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "campaign/messages.hpp"

namespace ridgeline::campaign {

using schema::LeverNeed;

bool is_asked_for(const schema::TrainingLever& lever, const BenchRequest& request) {
  const auto& names = request.levers;
  if (request.job.options.contains(schema::lever_option(lever.name))) return false;
  if (lever.on_request && !request.levers_by_name) return false;
  return std::find(names.begin(), names.end(), lever.name) != names.end();
}

LeverCondition unmet_condition(const schema::TrainingLever& lever, const BenchRequest& request,
                               const schema::TrainingSettings& base) {
  const bool on_gpu = schema::is_gpu_device(request.device);
  if (lever.need == LeverNeed::cpu && on_gpu) return LeverCondition::other_device;
  if ((lever.need == LeverNeed::gpu || lever.need == LeverNeed::pinned_memory) && !on_gpu) return LeverCondition::gpu;
  if (!schema::in_range(torch_version(request.job.runtime), lever.torch)) return LeverCondition::torch;
  if (lever.need == LeverNeed::workers && base.workers == 0) return LeverCondition::workers;
  if (lever.need == LeverNeed::pinned_memory && !base.pin_memory) return LeverCondition::pinned;
  if (lever.passes > 1 && (base.batch % lever.passes != 0 || base.batch < 2 * lever.passes))
    return LeverCondition::batch;
  return LeverCondition::met;
}

schema::Message unmet_note(LeverCondition condition, std::vector<std::string> levers) {
  levers.erase(std::unique(levers.begin(), levers.end()), levers.end());
  switch (condition) {
    case LeverCondition::gpu: return messages::bench_levers_need_gpu({.levers = std::move(levers)});
    case LeverCondition::workers: return messages::bench_levers_need_workers({.levers = std::move(levers)});
    case LeverCondition::pinned: return messages::bench_levers_need_pinning({.levers = std::move(levers)});
    case LeverCondition::torch: return messages::bench_levers_need_torch({.levers = std::move(levers)});
    default: return messages::bench_levers_need_batch({.levers = std::move(levers)});
  }
}

bool exclude_each_other(const schema::TrainingLever& one, const schema::TrainingLever& other) {
  const auto records_graphs = [](const schema::TrainingLever& lever) {
    return lever.name == "cuda_graph" || lever.name == "torch_compile";
  };
  const auto keeps_on_device = [](const schema::TrainingLever& lever) {
    return lever.name == "cache_dataset" && lever.value == "device";
  };
  const auto is_of_loading = [](const schema::TrainingLever& lever) {
    return lever.need == LeverNeed::workers || lever.need == LeverNeed::pinned_memory;
  };
  return one.name == other.name || (records_graphs(one) && records_graphs(other)) ||
         (keeps_on_device(one) && is_of_loading(other)) || (keeps_on_device(other) && is_of_loading(one));
}

std::string lever_label(const schema::TrainingLever& lever) {
  const auto& all = schema::training_levers();
  const auto values =
      std::count_if(all.begin(), all.end(), [&](const auto& other) { return other.name == lever.name; });
  return values > 1 ? fmt::format("{}={}", lever.name, lever.value) : std::string(lever.name);
}

std::string torch_version(const std::string& runtime) {
  constexpr std::string_view kTorch = "torch ";
  const auto begin = runtime.find(kTorch);
  if (begin == std::string::npos) return "";
  const auto from = begin + kTorch.size();
  return runtime.substr(from, runtime.find_first_not_of("0123456789.", from) - from);
}

}  // namespace ridgeline::campaign
