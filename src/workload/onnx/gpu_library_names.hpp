// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/execution_provider.hpp"

namespace ridgeline::workload {

/// Whether a soname or file name belongs to CUDA, cuDNN, TensorRT or the NVIDIA driver: "libcublasLt.so.13",
/// "libnvinfer.so.10", "libcuda.so.1".
[[nodiscard]] bool is_gpu_library(std::string_view name);

/// Whether it comes with the driver, so that only the system's loader can find the one that fits the kernel module.
[[nodiscard]] bool is_driver_library(std::string_view name);

/// The number after ".so.": 13 for "libcudart.so.13"; 0 when there is none.
[[nodiscard]] int major_version(std::string_view name);

/// A library that ONNX Runtime's provider opens by name while it runs, so that no DT_NEEDED entry names it.
struct RuntimeLibrary {
  std::string soname;
  bool required;  ///< without it the provider does less than its settings say
};

/// For a provider built for that CUDA release, whose DT_NEEDED entries are `needed`; by soname. cuDNN 9 is required as
/// its row says, unless the provider is linked to a cuDNN, as those of 1.17 and 1.18 are to cuDNN 8; cuFFT serves two
/// rare operators, and NVRTC compiles kernels for cuDNN.
[[nodiscard]] std::vector<RuntimeLibrary> libraries_opened_at_run_time(const schema::ExecutionProvider& provider,
                                                                       int cuda_major,
                                                                       const std::vector<std::string>& needed);

/// The Python package that holds the library for that CUDA release, with the version where the newest is another
/// ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12~=8.9"), or "" when none does.
[[nodiscard]] std::string python_package_of(std::string_view soname, int cuda_major);
/// The command that installs it, "" without a package. PyPI has TensorRT's packages as stubs that fetch the libraries
/// from NVIDIA's own index, which is therefore named.
[[nodiscard]] std::string pip_install_of(std::string_view soname, int cuda_major);

}  // namespace ridgeline::workload
