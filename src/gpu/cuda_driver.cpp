// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda_driver.hpp"

#include <utility>

namespace ridgeline::gpu {
namespace {

using base::ErrorCode;
using base::Result;

// CUresult values that have a class of their own (cuda.h).
constexpr CudaStatus kInvalidValue = 1;
constexpr CudaStatus kOutOfMemory = 2;
constexpr CudaStatus kNotInitialized = 3;
constexpr CudaStatus kDeinitialized = 4;
constexpr CudaStatus kNoDevice = 100;
constexpr CudaStatus kSystemDriverMismatch = 803;

constexpr unsigned kHostAllocPortable = 0x1;
constexpr unsigned kStreamNonBlocking = 0x1;
constexpr unsigned kEventDefault = 0x0;
constexpr unsigned kEventBlockingSync = 0x1;

ErrorCode code_of(CudaStatus status) {
  switch (status) {
    case kInvalidValue: return ErrorCode::invalid_argument;
    case kOutOfMemory: return ErrorCode::out_of_memory;
    case kNotInitialized:
    case kDeinitialized:
    case kNoDevice:
    case kSystemDriverMismatch: return ErrorCode::unavailable;
    default: return ErrorCode::internal;
  }
}

/// Of an allocation that asked for so much.
tl::unexpected<base::Error> refused(base::Error error, std::size_t bytes) {
  if (error.code == ErrorCode::out_of_memory) error.number = static_cast<std::int64_t>(bytes);
  return tl::unexpected<base::Error>(std::move(error));
}

}  // namespace

Result<std::shared_ptr<const CudaDriver>> CudaDriver::load(const std::vector<std::string>& candidates) {
  RL_TRY_ASSIGN(auto library, base::DynamicLibrary::open(candidates));
  const std::shared_ptr<CudaDriver> driver(new CudaDriver(std::move(library)));
  RL_TRY(driver->resolve());
  if (const auto status = driver->api_.init(0); status != kCudaSuccess) {
    auto error = driver->error(status, "starting the CUDA driver");
    error.code = ErrorCode::unavailable;
    return tl::unexpected<base::Error>(std::move(error));
  }
  return std::shared_ptr<const CudaDriver>(driver);
}

Result<void> CudaDriver::resolve() {
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    void* symbol = library_.symbol(name);
    if (symbol == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  find(api_.init, "cuInit");
  find(api_.driver_get_version, "cuDriverGetVersion");
  find(api_.device_get_count, "cuDeviceGetCount");
  find(api_.get_error_name, "cuGetErrorName");
  find(api_.get_error_string, "cuGetErrorString");
  find(api_.primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  find(api_.primary_ctx_release, "cuDevicePrimaryCtxRelease_v2");
  find(api_.ctx_set_current, "cuCtxSetCurrent");
  find(api_.ctx_synchronize, "cuCtxSynchronize");
  find(api_.mem_get_info, "cuMemGetInfo_v2");
  find(api_.mem_host_alloc, "cuMemHostAlloc");
  find(api_.mem_free_host, "cuMemFreeHost");
  find(api_.mem_alloc, "cuMemAlloc_v2");
  find(api_.mem_free, "cuMemFree_v2");
  find(api_.memcpy_to_device, "cuMemcpyHtoD_v2");
  find(api_.memcpy_to_host, "cuMemcpyDtoH_v2");
  find(api_.memcpy_to_device_async, "cuMemcpyHtoDAsync_v2");
  find(api_.memcpy_to_host_async, "cuMemcpyDtoHAsync_v2");
  find(api_.memcpy_on_device_async, "cuMemcpyDtoDAsync_v2");
  find(api_.memcpy_2d_async, "cuMemcpy2DAsync_v2");
  find(api_.module_load_data, "cuModuleLoadData");
  find(api_.module_get_function, "cuModuleGetFunction");
  find(api_.module_unload, "cuModuleUnload");
  find(api_.launch_kernel, "cuLaunchKernel");
  find(api_.stream_create, "cuStreamCreate");
  find(api_.stream_destroy, "cuStreamDestroy_v2");
  find(api_.stream_synchronize, "cuStreamSynchronize");
  find(api_.stream_wait_event, "cuStreamWaitEvent");
  find(api_.memset, "cuMemsetD8_v2");
  find(api_.event_create, "cuEventCreate");
  find(api_.event_record, "cuEventRecord");
  find(api_.event_synchronize, "cuEventSynchronize");
  find(api_.event_elapsed_time, "cuEventElapsedTime");
  find(api_.event_destroy, "cuEventDestroy_v2");
  if (missing.empty()) return {};
  return base::fail(ErrorCode::unavailable, "{} has no {}: it is no CUDA driver of version 11 or later",
                    path().string(), missing);
}

int CudaDriver::version() const noexcept {
  int version = 0;
  return api_.driver_get_version(&version) == kCudaSuccess ? version : 0;
}

Result<int> CudaDriver::device_count() const {
  int count = 0;
  if (const auto status = api_.device_get_count(&count); status != kCudaSuccess)
    return tl::unexpected<base::Error>(error(status, "counting the GPUs"));
  return count;
}

Result<CudaDriver::MemoryInfo> CudaDriver::memory_info() const {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (const auto status = api_.mem_get_info(&free_bytes, &total_bytes); status != kCudaSuccess)
    return tl::unexpected<base::Error>(error(status, "reading the GPU's free memory"));
  return MemoryInfo{static_cast<std::int64_t>(free_bytes), static_cast<std::int64_t>(total_bytes)};
}

struct CudaDriver::Copy2d {
  struct Side {
    std::size_t x_bytes = 0;
    std::size_t y = 0;
    int memory_type = 2;  // CU_MEMORYTYPE_DEVICE
    void* host = nullptr;
    CudaAddress device = 0;
    void* array = nullptr;
    std::size_t pitch = 0;
  };
  Side from;
  Side to;
  std::size_t width_bytes = 0;
  std::size_t height = 0;
};

CudaStatus CudaDriver::copy_rows_on_device_async(CudaAddress to, CudaAddress from, std::size_t from_stride,
                                                 std::size_t row_bytes, std::size_t rows,
                                                 CudaStreamHandle stream) const noexcept {
  Copy2d copy;
  copy.from.device = from;
  copy.from.pitch = from_stride;
  copy.to.device = to;
  copy.to.pitch = row_bytes;
  copy.width_bytes = row_bytes;
  copy.height = rows;
  return api_.memcpy_2d_async(&copy, stream);
}

CudaStatus CudaDriver::fill(CudaAddress to, unsigned char value, std::size_t bytes) const noexcept {
  if (const auto status = api_.memset(to, value, bytes); status != kCudaSuccess) return status;
  return api_.ctx_synchronize();  // a memset of GPU memory returns before it is done
}

base::Error CudaDriver::error(CudaStatus status, std::string_view doing) const {
  const char* name = nullptr;
  const char* text = nullptr;
  api_.get_error_name(status, &name);
  api_.get_error_string(status, &text);
  return {code_of(status), fmt::format("{}: {} ({}){}{}", doing, name != nullptr ? name : "CUDA error", status,
                                       text != nullptr ? ": " : "", text != nullptr ? text : "")};
}

Result<PrimaryContext> PrimaryContext::retain(std::shared_ptr<const CudaDriver> driver, int device) {
  CudaContextHandle handle = nullptr;
  if (const auto status = driver->api_.primary_ctx_retain(&handle, device); status != kCudaSuccess)
    return tl::unexpected<base::Error>(driver->error(status, fmt::format("opening GPU {}", device)));
  return PrimaryContext(std::move(driver), device, handle);
}

PrimaryContext::~PrimaryContext() {
  if (handle_ != nullptr) driver_->api_.primary_ctx_release(device_);
}

PrimaryContext::PrimaryContext(PrimaryContext&& other) noexcept
    : driver_(std::move(other.driver_)), device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}

PrimaryContext& PrimaryContext::operator=(PrimaryContext&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

Result<void> PrimaryContext::make_current() const {
  if (const auto status = driver_->api_.ctx_set_current(handle_); status != kCudaSuccess)
    return tl::unexpected<base::Error>(driver_->error(status, fmt::format("entering the context of GPU {}", device_)));
  return {};
}

Result<PinnedBuffer> PinnedBuffer::make(std::shared_ptr<const CudaDriver> driver, std::size_t bytes) {
  void* data = nullptr;
  if (bytes > 0)
    if (const auto status = driver->api_.mem_host_alloc(&data, bytes, kHostAllocPortable); status != kCudaSuccess)
      return refused(driver->error(status, fmt::format("pinning {} bytes of host memory", bytes)), bytes);
  return PinnedBuffer(std::move(driver), data, bytes);
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ != nullptr) driver_->api_.mem_free_host(data_);
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : driver_(std::move(other.driver_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Result<DeviceBuffer> DeviceBuffer::make(std::shared_ptr<const CudaDriver> driver, std::size_t bytes) {
  CudaAddress address = 0;
  if (bytes > 0)
    if (const auto status = driver->api_.mem_alloc(&address, bytes); status != kCudaSuccess)
      return refused(driver->error(status, fmt::format("allocating {} bytes on the GPU", bytes)), bytes);
  return DeviceBuffer(std::move(driver), address, bytes);
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != 0) driver_->api_.mem_free(address_);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : driver_(std::move(other.driver_)),
      address_(std::exchange(other.address_, 0)),
      size_(std::exchange(other.size_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

void* DeviceBuffer::data() const noexcept { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address_)); }

Result<CudaStream> CudaStream::make(std::shared_ptr<const CudaDriver> driver) {
  CudaStreamHandle handle = nullptr;
  if (const auto status = driver->api_.stream_create(&handle, kStreamNonBlocking); status != kCudaSuccess)
    return tl::unexpected<base::Error>(driver->error(status, "creating a stream"));
  return CudaStream(std::move(driver), handle);
}

CudaStream::~CudaStream() {
  if (handle_ != nullptr) driver_->api_.stream_destroy(handle_);
}

CudaStream::CudaStream(CudaStream&& other) noexcept
    : driver_(other.driver_), handle_(std::exchange(other.handle_, nullptr)) {}

CudaStream& CudaStream::operator=(CudaStream&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(handle_, other.handle_);
  return *this;
}

Result<CudaKernel> CudaKernel::make(std::shared_ptr<const CudaDriver> driver, const char* ptx, const char* name) {
  void* module = nullptr;
  if (const auto status = driver->api_.module_load_data(&module, ptx); status != kCudaSuccess)
    return tl::unexpected<base::Error>(driver->error(status, fmt::format("compiling kernel {}", name)));
  void* function = nullptr;
  if (const auto status = driver->api_.module_get_function(&function, module, name); status != kCudaSuccess) {
    driver->api_.module_unload(module);
    return tl::unexpected<base::Error>(driver->error(status, fmt::format("finding kernel {}", name)));
  }
  return CudaKernel(std::move(driver), module, function);
}

Result<CudaKernel> CudaKernel::make_empty(std::shared_ptr<const CudaDriver> driver) {
  constexpr const char* kPtx =
      ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry ridgeline_empty() { ret; }\n";
  return make(std::move(driver), kPtx, "ridgeline_empty");
}

CudaKernel::~CudaKernel() {
  if (module_ != nullptr) driver_->api_.module_unload(module_);
}

CudaKernel::CudaKernel(CudaKernel&& other) noexcept
    : driver_(std::move(other.driver_)), module_(std::exchange(other.module_, nullptr)), function_(other.function_) {}

CudaKernel& CudaKernel::operator=(CudaKernel&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(module_, other.module_);
  std::swap(function_, other.function_);
  return *this;
}

CudaStatus CudaKernel::launch(CudaStreamHandle stream) const noexcept {
  return driver_->api_.launch_kernel(function_, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
}

CudaStatus CudaKernel::launch(CudaStreamHandle stream, const Size& blocks, const Size& threads,
                              const void* argument) const noexcept {
  void* arguments[] = {const_cast<void*>(argument)};
  return driver_->api_.launch_kernel(function_, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z, 0,
                                     stream, arguments, nullptr);
}

Result<CudaEvent> CudaEvent::make(std::shared_ptr<const CudaDriver> driver, Wait wait) {
  CudaEventHandle handle = nullptr;
  if (const auto status = driver->api_.event_create(&handle, wait == Wait::block ? kEventBlockingSync : kEventDefault);
      status != kCudaSuccess)
    return tl::unexpected<base::Error>(driver->error(status, "creating an event"));
  return CudaEvent(std::move(driver), handle);
}

CudaEvent::~CudaEvent() {
  if (handle_ != nullptr) driver_->api_.event_destroy(handle_);
}

CudaEvent::CudaEvent(CudaEvent&& other) noexcept
    : driver_(other.driver_), handle_(std::exchange(other.handle_, nullptr)) {}

CudaEvent& CudaEvent::operator=(CudaEvent&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(handle_, other.handle_);
  return *this;
}

CudaStatus CudaEvent::record(CudaStreamHandle stream) const noexcept {
  return driver_->api_.event_record(handle_, stream);
}

CudaStatus CudaEvent::synchronize() const noexcept { return driver_->api_.event_synchronize(handle_); }

Result<double> CudaEvent::elapsed_ms(const CudaEvent& start) const {
  float ms = 0;
  if (const auto status = driver_->api_.event_elapsed_time(&ms, start.handle_, handle_); status != kCudaSuccess)
    return tl::unexpected<base::Error>(driver_->error(status, "reading the time between two events"));
  return static_cast<double>(ms);
}

}  // namespace ridgeline::gpu
