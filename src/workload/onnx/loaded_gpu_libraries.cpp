// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/loaded_gpu_libraries.hpp"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <algorithm>

#include <fmt/format.h>

#include "host/this_process.hpp"
#include "workload/onnx/gpu_library_names.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;

/// A library of this process, asked by symbol; never opened anew.
class Asked {
 public:
  explicit Asked(const fs::path& path) : handle_(::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {}
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  ~Asked() {
    if (handle_ != nullptr) ::dlclose(handle_);  // gives back RTLD_NOLOAD's own count; the library stays
  }

  /// nullptr when the library has no such function.
  template <typename Function>
  [[nodiscard]] Function function(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(handle_, name));
  }

 private:
  void* handle_;
};

// Numbers as NVIDIA's headers encode them: 13020 is CUDA 13.2, 91002 is cuDNN 9.10.2, and 8907 is cuDNN 8.9.7.
std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }
std::string decimal_version(std::size_t number) {
  // Until cuDNN 8 and TensorRT 9 a number was major * 1000 + minor * 100 + patch.
  if (number < 10000) return fmt::format("{}.{}.{}", number / 1000, number / 100 % 10, number % 100);
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::string version_from_int_pointer(const Asked& library, const char* name) {
  const auto ask = library.function<int (*)(int*)>(name);
  int number = 0;
  return ask != nullptr && ask(&number) == 0 && number > 0 ? cuda_version(number) : "";
}

std::string version_from_size(const Asked& library, const char* name) {
  const auto ask = library.function<std::size_t (*)()>(name);
  return ask != nullptr ? decimal_version(ask()) : "";
}

// libraryPropertyType of library_types.h: major, minor, patch.
std::string version_from_property(const Asked& library, const char* name) {
  const auto ask = library.function<int (*)(int, int*)>(name);
  int part[3] = {0, 0, 0};
  if (ask == nullptr) return "";
  for (int at = 0; at < 3; ++at)
    if (ask(at, &part[at]) != 0) return "";
  return fmt::format("{}.{}.{}", part[0], part[1], part[2]);
}

std::string version_of_nvrtc(const Asked& library) {
  const auto ask = library.function<int (*)(int*, int*)>("nvrtcVersion");
  int major = 0;
  int minor = 0;
  return ask != nullptr && ask(&major, &minor) == 0 ? fmt::format("{}.{}", major, minor) : "";
}

std::string version_of_tensorrt(const Asked& library) {
  const auto ask = library.function<int (*)()>("getInferLibVersion");
  const int number = ask != nullptr ? ask() : 0;
  return number > 0 ? decimal_version(static_cast<std::size_t>(number)) : "";
}

std::string version_of_onnxruntime(const Asked& library) {
  const auto get = library.function<const OrtApiBase* (*)()>("OrtGetApiBase");
  return get != nullptr ? get()->GetVersionString() : "";
}

std::string asked_version(const std::string& name, const fs::path& path) {
  const Asked library(path);
  if (name == "libcudart.so") return version_from_int_pointer(library, "cudaRuntimeGetVersion");
  if (name == "libcuda.so") return version_from_int_pointer(library, "cuDriverGetVersion");
  if (name.rfind("libcudnn", 0) == 0) return version_from_size(library, "cudnnGetVersion");
  if (name == "libcublas.so") return version_from_property(library, "cublasGetProperty");
  if (name == "libcublasLt.so") return version_from_property(library, "cublasLtGetProperty");
  if (name == "libcufft.so") return version_from_property(library, "cufftGetProperty");
  if (name == "libcurand.so") return version_from_property(library, "curandGetProperty");
  if (name == "libnvrtc.so") return version_of_nvrtc(library);
  if (name == "libnvinfer.so") return version_of_tensorrt(library);
  if (name == "libonnxruntime.so") return version_of_onnxruntime(library);
  return "";
}

std::string plain_name(const std::string& file) { return file.substr(0, file.find(".so") + 3); }

}  // namespace

LoadedLibrary loaded_library(const fs::path& path) {
  const auto file = path.filename().string();
  LoadedLibrary library{plain_name(file), path, {}};
  const auto suffix = file.size() > library.name.size() ? file.substr(library.name.size() + 1) : "";
  // A lone number is the soname's, which stays the same for years.
  library.version = suffix.find('.') != std::string::npos ? suffix : asked_version(library.name, path);
  return library;
}

std::vector<fs::path> gpu_libraries_among(std::vector<fs::path> files) {
  std::erase_if(files, [](const fs::path& path) {
    const auto name = path.filename().string();
    return !is_gpu_library(name) && (name.rfind("libonnxruntime", 0) != 0 || name.find(".so") == std::string::npos);
  });
  return files;
}

std::vector<LoadedLibrary> loaded_gpu_libraries() {
  std::vector<LoadedLibrary> libraries;
  for (const auto& path : gpu_libraries_among(host::mapped_files())) libraries.push_back(loaded_library(path));
  // cuDNN's parts carry no version of their own: they belong to the main library of their folder.
  for (auto& part : libraries)
    if (part.version.empty() && part.name.rfind("libcudnn_", 0) == 0)
      for (const auto& library : libraries)
        if (library.name == "libcudnn.so" && library.path.parent_path() == part.path.parent_path())
          part.version = library.version;
  return libraries;
}

std::vector<std::string> describe(const std::vector<LoadedLibrary>& libraries) {
  std::vector<std::string> lines;
  for (const auto& library : libraries)
    lines.push_back(library.version.empty() ? library.path.string()
                                            : fmt::format("{} ({})", library.path.string(), library.version));
  return lines;
}

}  // namespace ridgeline::workload
