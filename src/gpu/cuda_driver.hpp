// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dynamic_library.hpp"
#include "base/error.hpp"

namespace ridgeline::gpu {

/// A CUresult; 0 is success. Calls of a hot path give it as it is, CudaDriver::error puts it into words.
using CudaStatus = int;
inline constexpr CudaStatus kCudaSuccess = 0;

/// CUdeviceptr: an address in GPU memory.
using CudaAddress = unsigned long long;

/// CUstream, CUevent and CUcontext as the runtime API and ONNX Runtime take them: opaque pointers.
using CudaStreamHandle = void*;
using CudaEventHandle = void*;
using CudaContextHandle = void*;

/// The stream of work that names none, which is in order with all streams but the non-blocking ones (CU_STREAM_LEGACY).
inline const CudaStreamHandle kLegacyStream = reinterpret_cast<CudaStreamHandle>(1);

/// The CUDA driver library opened at run time. Only workers may use it: it creates a context, which takes memory on the
/// GPU. Thread-safe; a thread makes a context current before it calls anything but the device functions.
class CudaDriver {
 public:
  struct MemoryInfo {
    std::int64_t free_bytes = 0;
    std::int64_t total_bytes = 0;
  };

  /// Opens the first candidate that loads, resolves every function and initializes the driver. Errors: unavailable (no
  /// library, a function missing, no GPU visible to this process).
  [[nodiscard]] static base::Result<std::shared_ptr<const CudaDriver>> load(
      const std::vector<std::string>& candidates = {"libcuda.so.1", "libcuda.so"});

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return library_.path(); }
  /// Newest CUDA version that the driver serves, 1000 * major + 10 * minor; 0 when it does not say.
  [[nodiscard]] int version() const noexcept;
  /// GPUs that this process sees (CUDA_VISIBLE_DEVICES applies).
  [[nodiscard]] base::Result<int> device_count() const;

  /// Of the GPU of the calling thread's context, as the driver counts it: all processes together.
  [[nodiscard]] base::Result<MemoryInfo> memory_info() const;

  [[nodiscard]] CudaStatus copy_to_device(CudaAddress to, const void* from, std::size_t bytes) const noexcept {
    return api_.memcpy_to_device(to, from, bytes);
  }
  [[nodiscard]] CudaStatus copy_to_host(void* to, CudaAddress from, std::size_t bytes) const noexcept {
    return api_.memcpy_to_host(to, from, bytes);
  }
  /// Truly asynchronous only with pinned host memory.
  [[nodiscard]] CudaStatus copy_to_device_async(CudaAddress to, const void* from, std::size_t bytes,
                                                CudaStreamHandle stream) const noexcept {
    return api_.memcpy_to_device_async(to, from, bytes, stream);
  }
  [[nodiscard]] CudaStatus copy_to_host_async(void* to, CudaAddress from, std::size_t bytes,
                                              CudaStreamHandle stream) const noexcept {
    return api_.memcpy_to_host_async(to, from, bytes, stream);
  }
  /// From GPU memory to GPU memory.
  [[nodiscard]] CudaStatus copy_on_device_async(CudaAddress to, CudaAddress from, std::size_t bytes,
                                                CudaStreamHandle stream) const noexcept {
    return api_.memcpy_on_device_async(to, from, bytes, stream);
  }
  /// Rows that lie `from_stride` bytes apart become rows without padding, both in GPU memory.
  [[nodiscard]] CudaStatus copy_rows_on_device_async(CudaAddress to, CudaAddress from, std::size_t from_stride,
                                                     std::size_t row_bytes, std::size_t rows,
                                                     CudaStreamHandle stream) const noexcept;
  /// Sets every byte; returns when it is done.
  [[nodiscard]] CudaStatus fill(CudaAddress to, unsigned char value, std::size_t bytes) const noexcept;
  /// What is queued on `stream` from now on waits for the event, recorded on another stream.
  [[nodiscard]] CudaStatus wait(CudaStreamHandle stream, CudaEventHandle event) const noexcept {
    return api_.stream_wait_event(stream, event, 0);
  }
  [[nodiscard]] CudaStatus synchronize(CudaStreamHandle stream) const noexcept {
    return api_.stream_synchronize(stream);
  }
  /// Waits for everything that the current context has been given.
  [[nodiscard]] CudaStatus synchronize_context() const noexcept { return api_.ctx_synchronize(); }

  /// "copying 4096 bytes to the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
  /// Codes: out_of_memory, unavailable (no device, or the driver is shutting down), invalid_argument, else internal.
  [[nodiscard]] base::Error error(CudaStatus status, std::string_view doing) const;

 private:
  friend class PrimaryContext;
  friend class PinnedBuffer;
  friend class DeviceBuffer;
  friend class CudaStream;
  friend class CudaEvent;
  friend class CudaKernel;

  /// CUDA_MEMCPY2D
  struct Copy2d;

  /// Own declarations of the functions used: the CUDA headers are not needed to build.
  struct Api {
    CudaStatus (*init)(unsigned);
    CudaStatus (*driver_get_version)(int*);
    CudaStatus (*device_get_count)(int*);
    CudaStatus (*get_error_name)(CudaStatus, const char**);
    CudaStatus (*get_error_string)(CudaStatus, const char**);
    CudaStatus (*primary_ctx_retain)(CudaContextHandle*, int);
    CudaStatus (*primary_ctx_release)(int);
    CudaStatus (*ctx_set_current)(CudaContextHandle);
    CudaStatus (*ctx_synchronize)();
    CudaStatus (*mem_get_info)(std::size_t*, std::size_t*);
    CudaStatus (*mem_host_alloc)(void**, std::size_t, unsigned);
    CudaStatus (*mem_free_host)(void*);
    CudaStatus (*mem_alloc)(CudaAddress*, std::size_t);
    CudaStatus (*mem_free)(CudaAddress);
    CudaStatus (*memcpy_to_device)(CudaAddress, const void*, std::size_t);
    CudaStatus (*memcpy_to_host)(void*, CudaAddress, std::size_t);
    CudaStatus (*memcpy_to_device_async)(CudaAddress, const void*, std::size_t, CudaStreamHandle);
    CudaStatus (*memcpy_to_host_async)(void*, CudaAddress, std::size_t, CudaStreamHandle);
    CudaStatus (*memcpy_on_device_async)(CudaAddress, CudaAddress, std::size_t, CudaStreamHandle);
    CudaStatus (*memcpy_2d_async)(const Copy2d*, CudaStreamHandle);
    CudaStatus (*module_load_data)(void**, const void*);
    CudaStatus (*module_get_function)(void**, void*, const char*);
    CudaStatus (*module_unload)(void*);
    CudaStatus (*launch_kernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                CudaStreamHandle, void**, void**);
    CudaStatus (*stream_create)(CudaStreamHandle*, unsigned);
    CudaStatus (*stream_destroy)(CudaStreamHandle);
    CudaStatus (*stream_synchronize)(CudaStreamHandle);
    CudaStatus (*stream_wait_event)(CudaStreamHandle, CudaEventHandle, unsigned);
    CudaStatus (*memset)(CudaAddress, unsigned char, std::size_t);
    CudaStatus (*event_create)(CudaEventHandle*, unsigned);
    CudaStatus (*event_record)(CudaEventHandle, CudaStreamHandle);
    CudaStatus (*event_synchronize)(CudaEventHandle);
    CudaStatus (*event_elapsed_time)(float*, CudaEventHandle, CudaEventHandle);
    CudaStatus (*event_destroy)(CudaEventHandle);
  };

  explicit CudaDriver(base::DynamicLibrary library) : library_(std::move(library)) {}
  [[nodiscard]] base::Result<void> resolve();

  base::DynamicLibrary library_;
  Api api_{};
};

/// The primary context of a GPU, the one that ONNX Runtime works in, held for as long as this object lives.
class PrimaryContext {
 public:
  [[nodiscard]] static base::Result<PrimaryContext> retain(std::shared_ptr<const CudaDriver> driver, int device);
  ~PrimaryContext();
  PrimaryContext(PrimaryContext&& other) noexcept;
  PrimaryContext& operator=(PrimaryContext&& other) noexcept;

  /// For the calling thread.
  [[nodiscard]] base::Result<void> make_current() const;
  [[nodiscard]] CudaContextHandle handle() const noexcept { return handle_; }

 private:
  PrimaryContext(std::shared_ptr<const CudaDriver> driver, int device, CudaContextHandle handle)
      : driver_(std::move(driver)), device_(device), handle_(handle) {}
  std::shared_ptr<const CudaDriver> driver_;
  int device_ = 0;
  CudaContextHandle handle_ = nullptr;
};

/// Host memory that the GPU reads and writes itself (page-locked, usable from every context).
class PinnedBuffer {
 public:
  /// Errors: out_of_memory. 0 bytes give an empty buffer.
  [[nodiscard]] static base::Result<PinnedBuffer> make(std::shared_ptr<const CudaDriver> driver, std::size_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  PinnedBuffer(std::shared_ptr<const CudaDriver> driver, void* data, std::size_t size)
      : driver_(std::move(driver)), data_(data), size_(size) {}
  std::shared_ptr<const CudaDriver> driver_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory of the current context's GPU.
class DeviceBuffer {
 public:
  /// Errors: out_of_memory. 0 bytes give an empty buffer.
  [[nodiscard]] static base::Result<DeviceBuffer> make(std::shared_ptr<const CudaDriver> driver, std::size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  [[nodiscard]] CudaAddress address() const noexcept { return address_; }
  /// The address in the form that runtimes take; not to be read by the CPU.
  [[nodiscard]] void* data() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  DeviceBuffer(std::shared_ptr<const CudaDriver> driver, CudaAddress address, std::size_t size)
      : driver_(std::move(driver)), address_(address), size_(size) {}
  std::shared_ptr<const CudaDriver> driver_;
  CudaAddress address_ = 0;
  std::size_t size_ = 0;
};

/// A stream that does not wait for the legacy default stream.
class CudaStream {
 public:
  [[nodiscard]] static base::Result<CudaStream> make(std::shared_ptr<const CudaDriver> driver);
  ~CudaStream();
  CudaStream(CudaStream&& other) noexcept;
  CudaStream& operator=(CudaStream&& other) noexcept;

  [[nodiscard]] CudaStreamHandle handle() const noexcept { return handle_; }
  [[nodiscard]] CudaStatus synchronize() const noexcept { return driver_->synchronize(handle_); }

 private:
  CudaStream(std::shared_ptr<const CudaDriver> driver, CudaStreamHandle handle)
      : driver_(std::move(driver)), handle_(handle) {}
  std::shared_ptr<const CudaDriver> driver_;
  CudaStreamHandle handle_ = nullptr;
};

/// A kernel, compiled by the driver from PTX text for the GPU of the current context.
class CudaKernel {
 public:
  /// Errors: internal (the driver does not take this PTX), with the driver's words.
  [[nodiscard]] static base::Result<CudaKernel> make(std::shared_ptr<const CudaDriver> driver, const char* ptx,
                                                     const char* name);
  /// One that does nothing.
  [[nodiscard]] static base::Result<CudaKernel> make_empty(std::shared_ptr<const CudaDriver> driver);
  ~CudaKernel();
  CudaKernel(CudaKernel&& other) noexcept;
  CudaKernel& operator=(CudaKernel&& other) noexcept;

  /// Of a kernel without arguments: one block of one thread.
  [[nodiscard]] CudaStatus launch(CudaStreamHandle stream) const noexcept;
  struct Size {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
  };
  /// Of a kernel with one argument, which is copied before this returns.
  [[nodiscard]] CudaStatus launch(CudaStreamHandle stream, const Size& blocks, const Size& threads,
                                  const void* argument) const noexcept;

 private:
  CudaKernel(std::shared_ptr<const CudaDriver> driver, void* module, void* function)
      : driver_(std::move(driver)), module_(module), function_(function) {}
  std::shared_ptr<const CudaDriver> driver_;
  void* module_ = nullptr;
  void* function_ = nullptr;
};

/// A point in a stream's work, with the GPU's own time stamp.
class CudaEvent {
 public:
  /// How synchronize() waits: on the processor, or asleep.
  enum class Wait { spin, block };
  [[nodiscard]] static base::Result<CudaEvent> make(std::shared_ptr<const CudaDriver> driver, Wait wait = Wait::spin);
  ~CudaEvent();
  CudaEvent(CudaEvent&& other) noexcept;
  CudaEvent& operator=(CudaEvent&& other) noexcept;

  [[nodiscard]] CudaEventHandle handle() const noexcept { return handle_; }
  [[nodiscard]] CudaStatus record(CudaStreamHandle stream) const noexcept;
  [[nodiscard]] CudaStatus synchronize() const noexcept;
  /// GPU time from `start` to this event in ms (resolution 0.5 us); both must have been reached.
  [[nodiscard]] base::Result<double> elapsed_ms(const CudaEvent& start) const;

 private:
  CudaEvent(std::shared_ptr<const CudaDriver> driver, CudaEventHandle handle)
      : driver_(std::move(driver)), handle_(handle) {}
  std::shared_ptr<const CudaDriver> driver_;
  CudaEventHandle handle_ = nullptr;
};

}  // namespace ridgeline::gpu
