// SPDX-License-Identifier: Apache-2.0
#include "loaded_cuda.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

namespace ridgeline::inject {

namespace fs = std::filesystem;

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* all) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
          static_cast<std::vector<std::string>*>(all)->emplace_back(info->dlpi_name);
        return 0;
      },
      &out);
  return out;
}

std::optional<int> major_of(const std::string& path, std::string_view library) {
  const auto file = fs::path(path).filename().string();
  if (!file.starts_with(library)) return std::nullopt;
  const int major = std::atoi(file.c_str() + library.size());
  return major > 0 ? std::optional(major) : std::nullopt;
}

int loaded_cuda_major(const std::vector<std::string>& loaded) {
  for (const auto* library : {"libcudart.so.", "libcupti.so."})
    for (const auto& path : loaded)
      if (const auto major = major_of(path, library)) return *major;
  // Programs that link the runtime statically have the driver alone.
  using Version = int (*)(int*);
  int version = 0;
  if (const auto ask = reinterpret_cast<Version>(::dlsym(RTLD_DEFAULT, "cuDriverGetVersion")); ask != nullptr)
    (void)ask(&version);
  return version / 1'000;
}

std::vector<std::string> cupti_places(const std::vector<std::string>& loaded, int cuda_major) {
  const auto name = "libcupti.so." + std::to_string(cuda_major);
  std::vector<std::string> out;
  for (const auto& path : loaded)
    if (major_of(path, "libcupti.so.") == cuda_major) out.push_back(path);
  for (const auto& path : loaded) {
    if (major_of(path, "libcudart.so.") != cuda_major) continue;
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

}  // namespace ridgeline::inject
