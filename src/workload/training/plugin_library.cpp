// SPDX-License-Identifier: Apache-2.0
#include "workload/training/plugin_library.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/dynamic_library.hpp"
#include "base/file.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kFile = "ridgeline_torch.so";
constexpr const char* kRebuild =
    "build it against your torch (build_torch_plugin.sh --python PYTHON), or train in Python with --python-exe PYTHON";

fs::path data_folder() {
  if (const char* set = std::getenv("XDG_DATA_HOME"); set != nullptr && *set == '/') return fs::path(set) / "ridgeline";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".local/share/ridgeline";
  return {};
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The loader's reason without the path, which the message names anyway.
std::string reason_of(const base::Error& error, const fs::path& path) {
  auto text = error.message;
  const auto name = path.string() + ": ";
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name)) text.erase(at, name.size());
  return text;
}

/// True when the table holds every function of the version that it claims.
bool complete(const rl_train_api& api) {
  constexpr auto kFirstSize = offsetof(rl_train_api, destroy) + sizeof(rl_train_api::destroy);
  return api.struct_size >= kFirstSize && api.torch_version != nullptr && api.models_json != nullptr &&
         api.cuda_devices != nullptr && api.alloc_pinned != nullptr && api.free_pinned != nullptr &&
         api.create != nullptr && api.run != nullptr && api.reset_peaks != nullptr && api.stats != nullptr &&
         api.destroy != nullptr;
}

Result<const rl_train_api*> load(const fs::path& path) {
  const auto library = base::DynamicLibrary::open_file(path.string());
  if (!library)
    return fail(ErrorCode::unavailable, "torch plugin {} cannot be loaded ({})", path.string(),
                reason_of(library.error(), path))
        .hint("{}", kRebuild);
  void* const symbol = library->symbol(RL_TRAIN_ENTRY);
  if (symbol == nullptr)
    return fail(ErrorCode::unavailable, "{} is no torch plugin: it has no function {}", path.string(), RL_TRAIN_ENTRY)
        .hint("{}", kRebuild);
  rl_train_entry entry = nullptr;
  static_assert(sizeof entry == sizeof symbol);
  std::memcpy(&entry, &symbol, sizeof entry);
  const auto* api = entry(RL_TRAIN_ABI_VERSION);
  if (api == nullptr)
    return fail(ErrorCode::unavailable, "torch plugin {} does not serve version {} of the interface", path.string(),
                RL_TRAIN_ABI_VERSION)
        .hint("{}", kRebuild);
  if (api->struct_size < 2 * sizeof(std::uint32_t) || api->abi_version != RL_TRAIN_ABI_VERSION || !complete(*api))
    return fail(ErrorCode::unavailable, "torch plugin {} has another version of the interface than {}", path.string(),
                RL_TRAIN_ABI_VERSION)
        .hint("{}", kRebuild);
  return api;
}

}  // namespace

Result<std::vector<fs::path>> find_torch_plugins(const std::string& named) {
  const char* const set = std::getenv("RIDGELINE_TORCH_PLUGIN");
  const bool from_environment = named.empty() && set != nullptr && *set != '\0';
  const std::string one = from_environment ? set : named;
  if (!one.empty()) {
    if (is_file(one)) return std::vector<fs::path>{fs::absolute(one)};
    return fail(ErrorCode::not_found, "{} {}: no such file",
                from_environment ? "RIDGELINE_TORCH_PLUGIN" : "--torch-plugin", one)
        .hint("{}", kRebuild);
  }
  const auto program = base::executable_path().parent_path();
  std::vector<fs::path> out;
  for (const auto& folder : {data_folder() / "plugins", program.parent_path() / "lib"})
    if (folder.is_absolute() && is_file(folder / kFile)) out.push_back(folder / kFile);
  if (!out.empty()) return out;
  return fail(ErrorCode::unavailable, "there is no torch plugin in {} or {}", (data_folder() / "plugins").string(),
              (program.parent_path() / "lib").string())
      .hint("{}", kRebuild);
}

Result<PluginLibrary> PluginLibrary::open(const std::vector<fs::path>& candidates) {
  base::Error first{ErrorCode::not_found, "no torch plugin is named"};
  bool tried = false;
  for (const auto& path : candidates) {
    auto api = load(path);
    if (api) return PluginLibrary(*api, path);
    if (!tried) first = std::move(api).error();
    tried = true;
  }
  return tl::unexpected<base::Error>(std::move(first));
}

bool PluginLibrary::release_memory() const noexcept {
  constexpr auto kSize = offsetof(rl_train_api, release_memory) + sizeof(rl_train_api::release_memory);
  return api_->struct_size >= kSize && api_->release_memory != nullptr && api_->release_memory() != 0;
}

std::string PluginLibrary::runtime() const {
  return fmt::format("torch {}, {}", api_->torch_version, has_cuda() ? "cuda" : "cpu");
}

}  // namespace ridgeline::workload
