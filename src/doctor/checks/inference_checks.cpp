// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "doctor/checks/checks.hpp"
#include "doctor/checks/provider_run.hpp"
#include "doctor/messages.hpp"

namespace ridgeline::doctor {
namespace {

/// Why a provider was not run.
schema::Message reason_of(const schema::ExecutionProvider& provider, const Facts& facts) {
  if (provider.on_gpu() && facts.gpus.empty()) return messages::no_gpu();
  if (facts.passive) return messages::no_load();
  return facts.runtime.identity ? messages::not_built() : messages::no_onnx_runtime();
}

}  // namespace

std::vector<Check> check_inference(const Facts& facts) {
  std::vector<Check> checks;
  for (const auto& provider : schema::execution_providers()) {
    if (provider.plugin) continue;
    std::vector<const ProviderRun*> runs;
    for (const auto& run : facts.smoke)
      if (run.provider == provider.id) runs.push_back(&run);
    Check check;
    check.id = fmt::format("inference.{}", provider.id);
    check.title = messages::title_provider_runs(provider.title);
    check.group = CheckGroup::inference;
    judge_runs(runs, CheckStatus::fail, check);
    if (runs.empty()) check.evidence = reason_of(provider, facts);
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace ridgeline::doctor
