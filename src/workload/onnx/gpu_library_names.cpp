// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/gpu_library_names.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

namespace ridgeline::workload {
namespace {

constexpr bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// How the Python packages of a CUDA release are called. Those of the toolkit lost their "-cu12" with release 13; what
/// is released apart from the toolkit keeps it.
struct Package {
  std::string_view library;  // up to ".so", or the start of it when it ends with '_' or '-'
  std::string_view name;
  bool part_of_toolkit;
};

constexpr std::array kPackages{
    Package{"libcudart", "nvidia-cuda-runtime", true}, Package{"libcublas", "nvidia-cublas", true},
    Package{"libcublasLt", "nvidia-cublas", true},     Package{"libcurand", "nvidia-curand", true},
    Package{"libcufft", "nvidia-cufft", true},         Package{"libcusparse", "nvidia-cusparse", true},
    Package{"libcusolver", "nvidia-cusolver", true},   Package{"libnvrtc", "nvidia-cuda-nvrtc", true},
    Package{"libnvJitLink", "nvidia-nvjitlink", true}, Package{"libcudnn", "nvidia-cudnn", false},
    Package{"libcudnn_", "nvidia-cudnn", false},       Package{"libnvinfer", "tensorrt", false},
    Package{"libnvinfer_", "tensorrt", false},         Package{"libnvonnxparser", "tensorrt", false},
    Package{"libnvrtc-", "nvidia-cuda-nvrtc", true},   Package{"libtensorrt_", "onnxruntime-ep-nv-tensorrt-rtx", false},
};

std::string_view stem(std::string_view name) { return name.substr(0, name.find(".so")); }

bool holds(const Package& package, std::string_view base) {
  const bool is_start = package.library.back() == '_' || package.library.back() == '-';
  return is_start ? starts_with(base, package.library) : base == package.library;
}

}  // namespace

bool is_gpu_library(std::string_view name) {
  if (name.find(".so") == std::string_view::npos) return false;
  const auto base = stem(name);
  if (is_driver_library(name) || starts_with(base, "libcupti") || starts_with(base, "libnvidia-")) return true;
  return std::any_of(kPackages.begin(), kPackages.end(),
                     [base](const Package& package) { return holds(package, base); });
}

bool is_driver_library(std::string_view name) { return stem(name) == "libcuda" || stem(name) == "libnvidia-ml"; }

int major_version(std::string_view name) {
  const auto at = name.find(".so.");
  if (at == std::string_view::npos) return 0;
  return static_cast<int>(std::strtol(std::string(name.substr(at + 4)).c_str(), nullptr, 10));
}

std::vector<RuntimeLibrary> libraries_opened_at_run_time(const schema::ExecutionProvider& provider, int cuda_major,
                                                         const std::vector<std::string>& needed) {
  constexpr auto* kCudnn = "libcudnn.so.9";
  std::vector<RuntimeLibrary> libraries;
  if (std::none_of(needed.begin(), needed.end(), [](const auto& name) { return starts_with(name, "libcudnn.so."); }))
    libraries.push_back(
        {kCudnn, std::find(provider.opens.begin(), provider.opens.end(), kCudnn) != provider.opens.end()});
  if (cuda_major == 12 || cuda_major == 13) {
    libraries.push_back({fmt::format("libnvrtc.so.{}", cuda_major), false});
    libraries.push_back({fmt::format("libcufft.so.{}", cuda_major - 1), false});
  }
  return libraries;
}

std::string python_package_of(std::string_view soname, int cuda_major) {
  const auto base = stem(soname);
  const auto package =
      std::find_if(kPackages.begin(), kPackages.end(), [base](const Package& one) { return holds(one, base); });
  if (package == kPackages.end()) return {};
  if (cuda_major == 0 || (package->part_of_toolkit && cuda_major >= 13)) return std::string(package->name);
  const bool old_cudnn = starts_with(base, "libcudnn") && major_version(soname) == 8;
  return fmt::format("{}-cu{}{}", package->name, cuda_major, old_cudnn ? "~=8.9" : "");
}

std::string pip_install_of(std::string_view soname, int cuda_major) {
  const auto package = python_package_of(soname, cuda_major);
  if (package.empty()) return {};
  const bool nvidia_only = starts_with(package, "tensorrt");
  return fmt::format("pip install {}{}", nvidia_only ? "--extra-index-url https://pypi.nvidia.com " : "", package);
}

}  // namespace ridgeline::workload
