// SPDX-License-Identifier: Apache-2.0
#include "gpu/cublas.hpp"

#include <utility>

namespace ridgeline::gpu {
namespace {

using base::ErrorCode;
using base::Result;

// cublas_api.h and library_types.h.
constexpr int kOpNone = 0;
constexpr int kReal32F = 0;
constexpr int kReal16F = 2;
constexpr int kComputePedantic32F = 69;
constexpr int kCompute32F = 68;
constexpr int kComputeFastTf32 = 77;
constexpr int kDefaultAlgorithm = -1;

void* address(CudaAddress value) noexcept { return reinterpret_cast<void*>(value); }

}  // namespace

Result<Cublas> Cublas::make(const CudaStream& stream, const std::vector<std::string>& candidates) {
  RL_TRY_ASSIGN(const auto library, base::DynamicLibrary::open(candidates));
  Api api{};
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    void* symbol = library.symbol(name);
    if (symbol == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  find(api.create, "cublasCreate_v2");
  find(api.destroy, "cublasDestroy_v2");
  find(api.set_stream, "cublasSetStream_v2");
  find(api.gemm, "cublasGemmEx");
  if (!missing.empty())
    return base::fail(ErrorCode::unavailable, "{} has no {}: expected cuBLAS 11 or later", library.path().string(),
                      missing);
  Handle handle = nullptr;
  if (const auto status = api.create(&handle); status != 0)
    return base::fail(ErrorCode::unavailable, "{}: cublasCreate ended with status {}", library.path().string(), status);
  Cublas cublas(api, handle);
  if (const auto status = api.set_stream(handle, stream.handle()); status != 0)
    return base::fail(ErrorCode::unavailable, "{}: cublasSetStream ended with status {}", library.path().string(),
                      status);
  return cublas;
}

Cublas::~Cublas() {
  if (handle_ != nullptr) api_.destroy(handle_);
}

Cublas::Cublas(Cublas&& other) noexcept : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}

Result<void> Cublas::multiply(Precision precision, int n, CudaAddress a, CudaAddress b, CudaAddress c) const {
  const float one = 1;
  const float zero = 0;
  const int type = precision == Precision::fp16 ? kReal16F : kReal32F;
  const int compute = precision == Precision::fp16   ? kCompute32F
                      : precision == Precision::tf32 ? kComputeFastTf32
                                                     : kComputePedantic32F;
  const auto status = api_.gemm(handle_, kOpNone, kOpNone, n, n, n, &one, address(a), type, n, address(b), type, n,
                                &zero, address(c), type, n, compute, kDefaultAlgorithm);
  if (status != 0)
    return base::fail(ErrorCode::unavailable, "cublasGemmEx of {0} x {0} ended with status {1}", n, status);
  return {};
}

}  // namespace ridgeline::gpu
