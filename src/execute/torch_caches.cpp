// SPDX-License-Identifier: Apache-2.0
#include "execute/torch_caches.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "base/hash.hpp"

namespace ridgeline::execute {
namespace {

constexpr std::size_t kDigits = 12;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::vector<std::pair<std::string, std::string>> torch_cache_environment(const schema::TrialSpec& spec) {
  const bool compiles = spec.runtime.version.rfind("1.", 0) != 0;
  if (!compiles || is_set("TORCHINDUCTOR_CACHE_DIR")) return {};
  const auto identity =
      base::sha256_hex(fmt::format("{}\n{}\n{}\n{}", spec.runtime.library_sha256, spec.runtime.library_path,
                                   spec.workload.location, spec.workload.content_sha256));
  const auto folder = base::cache_folder() / "torch" / (spec.runtime.version + "-" + identity.substr(0, kDigits));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return {};
  std::vector<std::pair<std::string, std::string>> variables{{"TORCHINDUCTOR_CACHE_DIR", folder.string()}};
  if (!is_set("TRITON_CACHE_DIR")) variables.emplace_back("TRITON_CACHE_DIR", (folder / "triton").string());
  // Off by default in torch 2.2 to 2.4.
  if (!is_set("TORCHINDUCTOR_FX_GRAPH_CACHE")) variables.emplace_back("TORCHINDUCTOR_FX_GRAPH_CACHE", "1");
  return variables;
}

}  // namespace ridgeline::execute
