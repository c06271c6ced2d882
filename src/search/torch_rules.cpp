// SPDX-License-Identifier: Apache-2.0
#include "search/torch_rules.hpp"

#include "schema/execution_provider.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

bool is_off(const Configuration& configuration, const char* key) {
  return configuration.get_or(key, "off").as_text() == "off";
}

bool is_on(const Configuration& configuration, const char* key) { return configuration.get_or(key, false).as_bool(); }

bool captures_by_itself(const Configuration& configuration) {
  return configuration.get_or("torch_compile", "off").as_text() == "reduce-overhead";
}

}  // namespace

std::vector<SpaceRule> torch_rules(const SpaceInput& input) {
  const auto& provider = schema::provider_of(input.provider);
  if (provider.engine != schema::torch_providers().front().engine) return {};
  std::vector<SpaceRule> rules{
      {"compile_freezing needs no_grad or inference_mode",
       [](const Configuration& c) {
         return !is_on(c, "compile_freezing") || c.get_or("grad_mode", "grad").as_text() != "grad";
       },
       {"compile_freezing", "grad_mode"}},
      {"torchscript and torch_compile exclude each other",
       [](const Configuration& c) { return is_off(c, "torchscript") || is_off(c, "torch_compile"); },
       {"torchscript", "torch_compile"}}};
  if (provider.on_gpu())
    rules.push_back({"reduce-overhead captures CUDA graphs by itself",
                     [](const Configuration& c) { return !captures_by_itself(c) || !is_on(c, "cuda_graph"); },
                     {"torch_compile", "cuda_graph"}});
  else
    rules.push_back({"reduce-overhead captures CUDA graphs, which need a GPU",
                     [](const Configuration& c) { return !captures_by_itself(c); },
                     {"torch_compile"}});
  return rules;
}

}  // namespace ridgeline::search
