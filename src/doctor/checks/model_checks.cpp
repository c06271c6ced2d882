// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/checks/provider_run.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

Check model_check(std::string id, std::string title, CheckStatus status, std::string evidence, std::string fix = {},
                  std::vector<std::string> commands = {}) {
  return make_check(CheckGroup::model, id, std::move(title), status, std::move(evidence), std::move(fix),
                    std::move(commands));
}

Check read_check(const ModelFacts& facts) {
  if (!facts.model)
    return model_check(
        "file", "Model file", fail, facts.error.message,
        facts.error.hint.empty() ? "name a readable .onnx file, its external data beside it" : facts.error.hint);
  const auto& model = *facts.model;
  return model_check(
      "file", "Model file", ok,
      fmt::format("{}: {} nodes, {} parameters, {}", facts.path, model.nodes,
                  base::format_count(static_cast<double>(model.parameters)),
                  base::format_bytes(static_cast<double>(model.file_bytes + model.external_data_bytes))));
}

Check opset_check(const ModelFacts& facts, const RuntimeFacts& runtime) {
  if (!facts.model) return model_check("opset", "Opset", skipped, "the model cannot be read");
  const auto found = facts.model->opsets.find("");
  const auto version = runtime.identity ? "ONNX Runtime " + runtime.identity->version : std::string("no ONNX Runtime");
  if (found == facts.model->opsets.end())
    return model_check("opset", "Opset", skipped, "the model imports no standard operators");
  if (!facts.opset_supported)
    return model_check("opset", "Opset", skipped, fmt::format("{}; not tried with {}", found->second, version));
  if (*facts.opset_supported)
    return model_check("opset", "Opset", ok, fmt::format("{}, which {} supports", found->second, version));
  const auto newest = facts.newest_opset.value_or(13);
  return model_check("opset", "Opset", warn,
                     fmt::format("{}; {} goes to {}", found->second, version,
                                 facts.newest_opset ? fmt::format("{}", newest) : "an older one"),
                     fmt::format("update ONNX Runtime, or export with opset {} or older", newest),
                     {fmt::format("torch.onnx.export(..., opset_version={})", newest)});
}

/// Weights and activations that one inference needs at the least; libraries and workspaces come on top.
double needed_bytes(const schema::ModelDescription& model) {
  return std::max(static_cast<double>(model.parameter_bytes), model.min_bytes / 2);
}

Check memory_check(const ModelFacts& facts, const Facts& all) {
  if (!facts.model) return model_check("memory", "Memory", skipped, "the model cannot be read");
  const double needed = needed_bytes(*facts.model);
  const auto host = static_cast<double>(all.machine.environment.memory_available_bytes);
  auto evidence = fmt::format("needs about {} and what the libraries take; {} free", base::format_bytes(needed),
                              base::format_bytes(host));
  if (host > 0 && needed > host)
    return model_check("memory", "Memory", fail, evidence, "free memory, or take a smaller or quantized model");
  double least = -1;
  for (const auto& gpu : all.gpus)
    if (gpu.gpu.memory_free_bytes) {
      const auto free = static_cast<double>(*gpu.gpu.memory_free_bytes);
      least = least < 0 ? free : std::max(least, free);
    }
  if (least >= 0) evidence += fmt::format(", {} on the emptiest GPU", base::format_bytes(least));
  if (least >= 0 && needed > 0.9 * least)
    return model_check("memory", "Memory", warn, evidence, "free GPU memory, take FP16 weights, or stay on the CPU",
                       {"nvidia-smi"});
  return model_check("memory", "Memory", ok, evidence);
}

}  // namespace

std::vector<Check> check_model(const Facts& facts) {
  if (!facts.model) return {};
  std::vector<Check> checks{read_check(*facts.model), opset_check(*facts.model, facts.runtime),
                            memory_check(*facts.model, facts)};
  for (const auto& provider : schema::execution_providers()) {
    std::vector<const ProviderRun*> runs;
    for (const auto& run : facts.model->runs)
      if (run.provider == provider.id) runs.push_back(&run);
    if (runs.empty()) continue;
    auto check = model_check(provider.id, fmt::format("{} runs it", provider.title), ok, {});
    judge_runs(runs, warn, check);
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<Check> judge(const Facts& facts) {
  std::vector<Check> checks;
  for (const auto& part : {check_driver(facts), check_libraries(facts), check_inference(facts), check_gpus(facts),
                           check_gpu_load(facts), check_machine(facts), check_python(facts), check_model(facts)})
    checks.insert(checks.end(), part.begin(), part.end());
  return checks;
}

}  // namespace ridgeline::doctor
