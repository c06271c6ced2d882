// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/checks/checks.hpp"
#include "doctor/checks/provider_run.hpp"

namespace ridgeline::doctor {

std::vector<Check> check_inference(const Facts& facts) {
  std::vector<Check> checks;
  for (const auto* provider : {"cpu", "cuda", "tensorrt"}) {
    std::vector<const ProviderRun*> runs;
    for (const auto& run : facts.smoke)
      if (run.provider == provider) runs.push_back(&run);
    Check check;
    check.id = fmt::format("inference.{}", provider);
    check.title = fmt::format("{} runs", provider_title(provider));
    check.group = CheckGroup::inference;
    judge_runs(runs, check);
    if (runs.empty()) check.evidence = facts.passive ? "not tried (--no-load)" : "not tried";
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace ridgeline::doctor
