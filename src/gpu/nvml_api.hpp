// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dynamic_library.hpp"
#include "base/error.hpp"
#include "gpu/nvml_functions.hpp"

namespace ridgeline::gpu {

/// NVIDIA's management library opened at run time. It only reads: no function that changes a GPU is even declared. It
/// creates no CUDA context, so the parent process may use it. Thread-safe.
class NvmlApi {
 public:
  [[nodiscard]] static std::vector<std::string> default_candidates() {
    return {"libnvidia-ml.so.1", "libnvidia-ml.so"};
  }

  /// Opens the first candidate that loads and starts it. Errors: unavailable (no library, no driver, no permission),
  /// with what was tried.
  [[nodiscard]] static base::Result<std::shared_ptr<const NvmlApi>> load(
      const std::vector<std::string>& candidates = default_candidates());
  ~NvmlApi();
  NvmlApi(const NvmlApi&) = delete;
  NvmlApi& operator=(const NvmlApi&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return library_.path(); }
  [[nodiscard]] const nvml::Functions& functions() const noexcept { return functions_; }
  /// Of the library itself, for functions that few callers want; nullptr when it has none of that name.
  [[nodiscard]] void* symbol(const char* name) const noexcept { return library_.symbol(name); }

  /// "" when unknown.
  [[nodiscard]] std::string driver_version() const;
  /// Newest CUDA version that the driver serves, "13.0"; "" when unknown.
  [[nodiscard]] std::string cuda_version() const;

  [[nodiscard]] base::Result<unsigned> device_count() const;
  [[nodiscard]] base::Result<nvml::Device> device_by_index(unsigned index) const;
  /// "GPU-..." or "MIG-...". Errors: not_found.
  [[nodiscard]] base::Result<nvml::Device> device_by_uuid(const std::string& uuid) const;

  /// "0000:1b:00.0". Starts this GPU only, where opening by number may start others on its way.
  [[nodiscard]] base::Result<nvml::Device> device_by_pci(const std::string& bus_id) const;

  /// "reading the memory: Not Supported (NVML 3)".
  [[nodiscard]] base::Error error(nvml::Status status, std::string_view doing) const;

 private:
  explicit NvmlApi(base::DynamicLibrary library) : library_(std::move(library)) {}
  void resolve();

  base::DynamicLibrary library_;
  nvml::Functions functions_;
  bool started_ = false;
};

}  // namespace ridgeline::gpu
