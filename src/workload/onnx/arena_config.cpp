// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/arena_config.hpp"

#include <algorithm>
#include <mutex>

#include "schema/catalog.hpp"
#include "schema/execution_provider.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::Configuration;

bool is_arena_option(const std::string& key) {
  const auto* param = schema::find_param(key);
  return param != nullptr && param->scope == schema::ParamScope::arena_option;
}

/// What of a configuration decides the arena.
Configuration arena_settings(const Configuration& configuration) {
  Configuration settings;
  for (const auto& [key, value] : configuration.values())
    if (is_arena_option(key) || key == "gpu_mem_limit_gb" || key == "arena_extend_strategy") settings.set(key, value);
  return settings;
}

/// The provider whose arena the arena options shape.
const schema::ExecutionProvider& owner_of_arena() {
  const auto& params = schema::catalog();
  const auto at =
      std::find_if(params.begin(), params.end(), [](const auto& param) { return is_arena_option(param.key); });
  return schema::provider_of(at->providers.front());
}

base::Result<OrtHandle<OrtMemoryInfo>> gpu_memory_info(const OrtApi& api) {
  OrtMemoryInfo* created = nullptr;
  RL_TRY(check_ort(api, api.CreateMemoryInfo("Cuda", OrtArenaAllocator, 0, OrtMemTypeDefault, &created)));
  return OrtHandle<OrtMemoryInfo>(created, api.ReleaseMemoryInfo);
}

std::mutex registration;
std::weak_ptr<SharedArena> registered_arena;

}  // namespace

bool sets_arena(const Configuration& configuration) {
  return std::any_of(configuration.values().begin(), configuration.values().end(),
                     [](const auto& setting) { return is_arena_option(setting.first); });
}

base::Result<std::shared_ptr<OrtArenaCfg>> make_arena_config(const OrtApi& api, const Configuration& configuration) {
  const auto settings = arena_settings(configuration);
  std::vector<const char*> keys;
  std::vector<std::size_t> values;
  for (const auto& [key, value] : settings.values()) {
    const auto* param = schema::find_param(key);
    const bool is_limit = key == "gpu_mem_limit_gb";
    keys.push_back(is_limit ? "max_mem" : param->target.c_str());
    values.push_back(is_limit                         ? static_cast<std::size_t>(value.as_number() * 1e9)
                     : key == "arena_extend_strategy" ? (value.as_text() == "kSameAsRequested" ? 1U : 0U)
                     : value.is_bool()                ? static_cast<std::size_t>(value.as_bool())
                                                      : static_cast<std::size_t>(value.as_integer()));
  }
  OrtArenaCfg* created = nullptr;
  const auto made = check_ort(api, api.CreateArenaCfgV2(keys.data(), values.data(), keys.size(), &created));
  if (!made) return base::fail(ErrorCode::invalid_argument, "{}: {}", settings.to_text(), made.error().message);
  return std::shared_ptr<OrtArenaCfg>(created, api.ReleaseArenaCfg);
}

base::Result<std::shared_ptr<SharedArena>> SharedArena::of(const OrtEnvironment& environment,
                                                           const Configuration& configuration) {
  if (!sets_arena(configuration)) return nullptr;
  const auto settings = arena_settings(configuration);
  const std::lock_guard lock(registration);
  if (auto other = registered_arena.lock()) {
    if (other->settings_ == settings) return other;
    return base::fail(ErrorCode::unsupported, "{}: a process has one arena, and this one's is {}", settings.to_text(),
                      other->settings_.to_text())
        .hint("compare them in separate runs");
  }
  const auto& api = environment.api();
  RL_TRY_ASSIGN(const auto arena, make_arena_config(api, settings));
  RL_TRY_ASSIGN(const auto info, gpu_memory_info(api));
  std::shared_ptr<SharedArena> made(new SharedArena(environment, settings));
  RL_TRY(check_ort(api, api.CreateAndRegisterAllocatorV2(environment.env(), owner_of_arena().library_name.c_str(),
                                                         info.get(), arena.get(), nullptr, nullptr, 0)));
  made->registered_ = true;
  registered_arena = made;
  return made;
}

SharedArena::~SharedArena() {
  if (!registered_) return;
  if (const auto info = gpu_memory_info(api_)) (void)check_ort(api_, api_.UnregisterAllocator(env_, info->get()));
}

}  // namespace ridgeline::workload
