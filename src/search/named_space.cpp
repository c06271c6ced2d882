// SPDX-License-Identifier: Apache-2.0
#include "search/named_space.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "schema/catalog.hpp"
#include "schema/execution_provider.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::search {
namespace {

using base::ErrorCode;
using base::Result;
using schema::Value;

constexpr std::string_view kClassic = "classic";

/// 90 % of the GPU's free memory in GB, to a tenth.
Result<double> nearly_all_free_memory(const SpaceInput& input) {
  const auto& gpus = input.environment.gpus;
  const auto free = gpus.empty() ? std::nullopt : gpus.front().memory_free_bytes;
  if (!free)
    return base::fail(ErrorCode::unavailable,
                      "space \"classic\" has a memory limit of 90 % of the GPU's free memory, which is unknown here")
        .hint("list gpu_mem_limit_gb in a --space file instead");
  const double tenths = std::floor(0.9 * static_cast<double>(*free) / 1e8);
  if (tenths < 1)
    return base::fail(ErrorCode::unavailable, "space \"classic\" needs free GPU memory; {} bytes are free", *free);
  return tenths / 10;
}

/// The 48 combinations that the Python tool before Ridgeline swept.
Result<SpaceRequest> classic(const SpaceInput& input) {
  const auto& owners = schema::find_param("gpu_mem_limit_gb")->providers;
  if (std::find(owners.begin(), owners.end(), input.provider) == owners.end())
    return base::fail(ErrorCode::invalid_argument,
                      "space \"classic\" holds settings of the {} provider, and the provider is {}",
                      schema::provider_of(owners.front()).title, input.provider)
        .hint("use --provider {}, or another --space", owners.front());
  RL_TRY_ASSIGN(const auto most, nearly_all_free_memory(input));
  schema::Dimension limits{"gpu_mem_limit_gb", {4.0, 8.0, 16.0}};
  if (std::find(limits.values.begin(), limits.values.end(), Value(most)) == limits.values.end())
    limits.values.emplace_back(most);
  SpaceRequest request;
  request.values = {{"cudnn_conv_algo_search", {"EXHAUSTIVE", "HEURISTIC", "DEFAULT"}},
                    std::move(limits),
                    {"do_copy_in_default_stream", {false, true}},
                    {"cudnn_conv_use_max_workspace", {false, true}}};
  request.only_listed = true;
  request.always_set = {"gpu_mem_limit_gb"};
  return request;
}

}  // namespace

std::vector<std::string> named_spaces() { return {std::string(kClassic)}; }

Result<SpaceRequest> resolve_named_space(const SpaceInput& input) {
  const auto& asked = input.request;
  if (asked.named.empty()) return asked;
  if (asked.named != kClassic)
    return base::fail(ErrorCode::invalid_argument, "unknown space \"{}\"; expected {} or a YAML file", asked.named,
                      fmt::join(named_spaces(), ", "))
        .hint("{}", schema::suggest(asked.named, named_spaces()));
  RL_TRY_ASSIGN(auto request, classic(input));
  request.fixed = asked.fixed;
  request.asked_by = asked.asked_by;
  request.exclude = asked.exclude;
  request.constraints = asked.constraints;
  for (const auto& dimension : asked.values) {
    std::erase_if(request.values, [&](const auto& own) { return own.key == dimension.key; });
    request.values.push_back(dimension);
  }
  const auto is_pinned = [&](const std::string& key) { return asked.fixed.contains(key); };
  std::erase_if(request.values, [&](const auto& own) { return is_pinned(own.key); });
  std::erase_if(request.always_set, is_pinned);
  return request;
}

}  // namespace ridgeline::search
