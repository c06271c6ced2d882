// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks/checks.hpp"
#include "doctor/checks/provider_run.hpp"
#include "doctor/messages.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

Check model_check(std::string id, schema::Message title, CheckStatus status, schema::Message evidence,
                  schema::Message fix = {}, std::vector<std::string> commands = {}) {
  return make_check(CheckGroup::model, id, std::move(title), status, std::move(evidence), std::move(fix),
                    std::move(commands));
}

Check read_check(const ModelFacts& facts) {
  const auto title = messages::title_model_file();
  if (!facts.model)
    return model_check(
        "file", title, fail, schema::messages::foreign(facts.error.message),
        facts.error.hint.empty() ? messages::fix_model_file() : schema::messages::foreign(facts.error.hint));
  const auto& model = *facts.model;
  return model_check("file", title, ok,
                     messages::model({.path = facts.path,
                                      .nodes = model.nodes,
                                      .parameters = static_cast<double>(model.parameters),
                                      .size = static_cast<double>(model.file_bytes + model.external_data_bytes)}));
}

Check opset_check(const ModelFacts& facts, const RuntimeFacts& runtime) {
  const auto title = messages::title_opset();
  if (!facts.model) return model_check("opset", title, skipped, messages::model_unreadable());
  const auto found = facts.model->opsets.find("");
  const auto version = runtime.identity ? runtime.identity->version : std::string();
  if (found == facts.model->opsets.end())
    return model_check("opset", title, skipped, messages::no_standard_operators());
  const auto opset = found->second;
  if (!facts.opset_supported)
    return model_check("opset", title, skipped, messages::opset_untried({.opset = opset, .runtime = version}));
  if (*facts.opset_supported)
    return model_check("opset", title, ok, messages::opset({.opset = opset, .runtime = version}));
  const auto newest = facts.newest_opset.value_or(13);
  return model_check("opset", title, warn,
                     messages::opset_too_new({.opset = opset, .runtime = version, .newest = facts.newest_opset}),
                     messages::fix_opset(newest), {fmt::format("torch.onnx.export(..., opset_version={})", newest)});
}

/// Weights and activations that one inference needs at the least; libraries and workspaces come on top.
double needed_bytes(const schema::ModelDescription& model) {
  return std::max(static_cast<double>(model.parameter_bytes), model.min_bytes / 2);
}

Check memory_check(const ModelFacts& facts, const Facts& all) {
  const auto title = messages::title_memory();
  if (!facts.model) return model_check("memory", title, skipped, messages::model_unreadable());
  const double needed = needed_bytes(*facts.model);
  const auto host = static_cast<double>(all.machine.environment.memory_available_bytes);
  messages::ModelMemory seen{.needed = needed, .host = host};
  if (host > 0 && needed > host)
    return model_check("memory", title, fail, messages::model_memory(seen), messages::fix_model_memory());
  for (const auto& gpu : all.gpus)
    if (gpu.gpu.memory_free_bytes)
      seen.gpu = std::max(seen.gpu.value_or(0), static_cast<double>(*gpu.gpu.memory_free_bytes));
  if (seen.gpu && needed > 0.9 * *seen.gpu)
    return model_check("memory", title, warn, messages::model_memory(seen), messages::fix_model_gpu_memory(),
                       {"nvidia-smi"});
  return model_check("memory", title, ok, messages::model_memory(seen));
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
    auto check = model_check(provider.id, messages::title_provider_runs_model(provider.title), ok, {});
    judge_runs(runs, warn, check);
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<Check> judge(const Facts& facts) {
  std::vector<Check> checks;
  for (const auto& part :
       {check_driver(facts), check_libraries(facts), check_inference(facts), check_gpus(facts), check_gpu_load(facts),
        check_machine(facts), check_python(facts), check_recording(facts), check_model(facts)})
    checks.insert(checks.end(), part.begin(), part.end());
  return checks;
}

}  // namespace ridgeline::doctor
