// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "doctor/checks/checks.hpp"
#include "doctor/checks/provider_run.hpp"

namespace ridgeline::doctor {
namespace {

/// Why a provider was not run.
std::string reason_of(const schema::ExecutionProvider& provider, const Facts& facts) {
  if (provider.on_gpu() && facts.gpus.empty()) return "no GPU";
  if (facts.passive) return "not tried (--no-load)";
  return facts.runtime.identity ? "this ONNX Runtime was built without it" : "no ONNX Runtime";
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
    check.title = fmt::format("{} runs", provider.title);
    check.group = CheckGroup::inference;
    judge_runs(runs, CheckStatus::fail, check);
    if (runs.empty()) check.evidence = reason_of(provider, facts);
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace ridgeline::doctor
