// SPDX-License-Identifier: Apache-2.0
#include "cupti_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace ridgeline::inject {
namespace {

namespace fs = std::filesystem;

/// The records that this library reads are those of this release's headers.
constexpr int kCudaMajor = CUPTI_API_VERSION / 10'000;

std::vector<std::string> mapped_libraries() {
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

/// 13 of "/usr/lib/libcudart.so.13.0.96".
std::optional<int> major_of(const std::string& path, std::string_view library) {
  const auto file = fs::path(path).filename().string();
  if (!file.starts_with(library)) return std::nullopt;
  const auto digits = file.substr(library.size());
  const int major = std::atoi(digits.c_str());
  return major > 0 ? std::optional(major) : std::nullopt;
}

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::vector<std::string> cupti_places(const std::vector<std::string>& mapped, int cuda_major) {
  const auto name = "libcupti.so." + std::to_string(cuda_major);
  std::vector<std::string> out;
  for (const auto& path : mapped)
    if (major_of(path, "libcupti.so.")) out.push_back(path);
  for (const auto& path : mapped) {
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

bool CuptiLibrary::open() {
  const auto mapped = mapped_libraries();
  int major = kCudaMajor;
  for (const auto& path : mapped)
    if (const auto found = major_of(path, "libcudart.so.")) major = *found;
  if (major != kCudaMajor) {
    why_ = "the program uses CUDA " + std::to_string(major) + "; kernels are recorded with CUDA " +
           std::to_string(kCudaMajor);
    return false;
  }
  for (const auto& place : cupti_places(mapped, major))
    if (void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) return take(library);
  why_ = "libcupti.so." + std::to_string(major) + " was not found; pip install nvidia-cuda-cupti";
  return false;
}

bool CuptiLibrary::take(void* library) {
  auto& f = functions_;
  const bool all = look_up(library, "cuptiGetVersion", f.get_version) &&
                   look_up(library, "cuptiGetResultString", f.get_result_string) &&
                   look_up(library, "cuptiActivityRegisterCallbacks", f.register_callbacks) &&
                   look_up(library, "cuptiActivityEnable", f.enable) &&
                   look_up(library, "cuptiActivityDisable", f.disable) &&
                   look_up(library, "cuptiActivityFlushAll", f.flush_all) &&
                   look_up(library, "cuptiActivityGetNextRecord", f.get_next_record) &&
                   look_up(library, "cuptiActivityGetNumDroppedRecords", f.get_dropped) &&
                   look_up(library, "cuptiGetCallbackName", f.get_callback_name);
  look_up(library, "cuptiActivityFlushPeriod", f.flush_period);
  look_up(library, "cuptiActivityRegisterTimestampCallback", f.register_timestamp);
  look_up(library, "cuptiSetThreadIdType", f.set_thread_id_type);
  look_up(library, "cuptiActivityEnableRuntimeApi", f.enable_runtime_api);
  look_up(library, "cuptiActivityEnableDriverApi", f.enable_driver_api);
  if (!all || f.get_version(&version_) != CUPTI_SUCCESS) {
    why_ = "the libcupti that the process has is too old";
    return false;
  }
  // Records grow within a release; a library writes those of its own.
  if (static_cast<int>(version_ / 10'000) != kCudaMajor) {
    why_ = "the process has CUPTI " + std::to_string(version_) + "; expected one of CUDA " + std::to_string(kCudaMajor);
    return false;
  }
  return true;
}

}  // namespace ridgeline::inject
