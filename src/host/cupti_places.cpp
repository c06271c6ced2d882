// SPDX-License-Identifier: Apache-2.0
#include "host/cupti_places.hpp"

#include <cstdlib>
#include <filesystem>

namespace ridgeline::host {

namespace fs = std::filesystem;

std::optional<int> library_major(const std::string& path, std::string_view library) {
  const auto file = fs::path(path).filename().string();
  if (!file.starts_with(library)) return std::nullopt;
  const int major = std::atoi(file.c_str() + library.size());
  return major > 0 ? std::optional(major) : std::nullopt;
}

std::vector<std::string> cupti_places(const std::vector<std::string>& loaded, int cuda_major) {
  const auto name = "libcupti.so." + std::to_string(cuda_major);
  std::vector<std::string> out;
  for (const auto& path : loaded)
    if (library_major(path, "libcupti.so.") == cuda_major) out.push_back(path);
  for (const auto& path : loaded) {
    if (library_major(path, "libcudart.so.") != cuda_major) continue;
    const auto folder = fs::path(path).parent_path();
    out.push_back((folder / name).string());  // pip's packages of CUDA 13
    out.push_back((folder.parent_path().parent_path() / "cuda_cupti" / "lib" / name).string());  // of CUDA 12
    out.push_back((folder.parent_path() / "extras" / "CUPTI" / "lib64" / name).string());        // the toolkit
    out.push_back((folder.parent_path().parent_path() / "extras" / "CUPTI" / "lib64" / name).string());
  }
  if (const char* given = std::getenv("RIDGELINE_CUPTI"); given != nullptr && given[0] != '\0') out.emplace_back(given);
  out.push_back(name);
  out.push_back("/usr/local/cuda/extras/CUPTI/lib64/" + name);
  return out;
}

}  // namespace ridgeline::host
