// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/ceilings_cache.hpp"

#include <system_error>

#include "base/file.hpp"
#include "base/hash.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

/// Bump when the probes change what they measure.
constexpr int kProbeVersion = 1;

/// What the ceilings depend on, in words; kept in the file so that a person can tell the files apart.
base::Json question_of(const schema::TuneRun& run) {
  std::string cublas;
  if (const auto at = run.runtime.provider_libraries.find(run.provider); at != run.runtime.provider_libraries.end())
    for (const auto& [file, version] : at->second)
      if (file.rfind("libcublas.", 0) == 0) cublas = version;
  std::string name;
  std::string driver;
  for (const auto& gpu : run.environment.gpus) {
    if (run.device != "gpu:" + gpu.uuid) continue;
    name = gpu.name;
    driver = gpu.driver_version;
  }
  return {{"device", run.device}, {"name", name}, {"driver", driver}, {"cublas", cublas}, {"probe", kProbeVersion}};
}

std::optional<schema::GpuCeilings> read(const std::filesystem::path& path, const base::Json& question) {
  const auto text = base::read_file(path);
  if (!text) return std::nullopt;
  const auto json = base::parse_json(*text, path.string());
  if (!json || !json->is_object() || !json->contains("ceilings") || json->value("question", base::Json()) != question)
    return std::nullopt;
  const auto ceilings = base::json_as<schema::GpuCeilings>(json->at("ceilings"), path.string());
  return ceilings ? std::optional(*ceilings) : std::nullopt;
}

}  // namespace

std::filesystem::path CeilingsCache::path_of(const base::Json& question) const {
  return folder_ / (base::sha256_hex(base::dump_json(question)).substr(0, 32) + ".json");
}

std::optional<schema::GpuCeilings> CeilingsCache::known(const schema::TuneRun& run) const {
  if (folder_.empty()) return std::nullopt;
  const auto question = question_of(run);
  return read(path_of(question), question);
}

Result<schema::GpuCeilings> CeilingsCache::get(const schema::TuneRun& run, const Measure& measure) const {
  if (auto before = known(run)) return *before;
  RL_TRY_ASSIGN(const auto found, measure());
  if (!folder_.empty()) {
    const auto question = question_of(run);
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    // Measured again next time if it cannot be kept.
    (void)base::write_file_atomically(path_of(question),
                                      base::dump_json({{"question", question}, {"ceilings", found}}) + "\n");
  }
  return found;
}

}  // namespace ridgeline::campaign
