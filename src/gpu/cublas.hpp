// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/dynamic_library.hpp"
#include "base/error.hpp"
#include "gpu/cuda_driver.hpp"

namespace ridgeline::gpu {

/// NVIDIA's matrix library opened at run time; one handle on one stream of the current context. Workers only: it takes
/// GPU memory.
class Cublas {
 public:
  enum class Precision {
    fp32,  ///< no TF32
    tf32,  ///< FP32 in memory, TF32 in the tensor cores
    fp16,  ///< sums in FP32
  };

  /// A library that this process has loaded already is found by its bare name.
  [[nodiscard]] static std::vector<std::string> default_candidates() { return {"libcublas.so.13", "libcublas.so.12"}; }

  /// Errors: unavailable (no library, a function missing, no handle).
  [[nodiscard]] static base::Result<Cublas> make(const CudaStream& stream,
                                                 const std::vector<std::string>& candidates = default_candidates());
  ~Cublas();
  Cublas(Cublas&& other) noexcept;
  Cublas& operator=(Cublas&&) = delete;

  [[nodiscard]] static constexpr std::size_t element_bytes(Precision precision) noexcept {
    return precision == Precision::fp16 ? 2 : 4;
  }

  /// c = a b for square matrices of `n` rows. Asynchronous. Errors: unavailable, with cuBLAS's status.
  [[nodiscard]] base::Result<void> multiply(Precision precision, int n, CudaAddress a, CudaAddress b,
                                            CudaAddress c) const;

 private:
  using Status = int;
  using Handle = void*;
  struct Api {
    Status (*create)(Handle*);
    Status (*destroy)(Handle);
    Status (*set_stream)(Handle, CudaStreamHandle);
    Status (*gemm)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                   const void*, void*, int, int, int, int);
  };

  Cublas(const Api& api, Handle handle) : api_(api), handle_(handle) {}

  Api api_;
  Handle handle_ = nullptr;
};

}  // namespace ridgeline::gpu
