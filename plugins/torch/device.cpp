// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include <exception>

#if __has_include(<c10/core/CachingDeviceAllocator.h>)
#include <c10/core/CachingDeviceAllocator.h>
#endif
#ifdef RIDGELINE_CUDA_HEADERS
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include "errors.hpp"

namespace ridgeline::torch_plugin {
namespace {

/// Torch of many versions: what a version lacks is found out by asking the compiler. The requirements have to depend on
/// a template's parameter.
template <typename Event>
constexpr bool kTellsTimes = requires(const Event& a, const Event& b) {
  a.elapsedTime(b);
};

template <typename Event>
double elapsed_ms(const Event& first, const Event& second) {
  if constexpr (kTellsTimes<Event>)
    return first.elapsedTime(second);
  else
    return 0;
}

template <typename Guard>
void wait_for(const Guard& guard, c10::Device device) {
  if constexpr (requires { guard.synchronizeDevice(device.index()); })
    guard.synchronizeDevice(device.index());
  else
    guard.synchronizeStream(guard.getStream(device));
}

template <typename Event>
void wait_for_event(const Event& event, const TrainingDevice& device) {
  if constexpr (requires { event.synchronize(); })
    event.synchronize();
  else
    device.synchronize();
}

template <typename Stats>
void take(const Stats& stats, MemoryNumbers& out) {
  constexpr std::size_t kAggregate = 0;
  out.peak_allocated = stats.allocated_bytes[kAggregate].peak;
  out.peak_reserved = stats.reserved_bytes[kAggregate].peak;
  out.alloc_retries = stats.num_alloc_retries;
  out.num_ooms = stats.num_ooms;
}

/// From torch 2.9 on, every device's allocator gives its numbers in one way.
template <typename Type>
constexpr bool kHasDeviceAllocator = requires(Type type) {
  getDeviceAllocator(type);
};

template <typename Type>
MemoryNumbers memory_of(Type type, c10::DeviceIndex index) {
  MemoryNumbers out;
  if constexpr (kHasDeviceAllocator<Type>) {
    auto* allocator = getDeviceAllocator(type);
    if (!allocator->initialized()) return out;
    take(allocator->getDeviceStats(index), out);
    if constexpr (requires { allocator->getMemoryInfo(index); }) {
      try {
        out.capacity = static_cast<std::int64_t>(allocator->getMemoryInfo(index).second);
      } catch (const std::exception&) {
        out.capacity = -1;  // some allocators know their own memory only
      }
    }
  } else {
#ifdef RIDGELINE_CUDA_HEADERS
    take(c10::cuda::CUDACachingAllocator::getDeviceStats(index), out);
#endif
  }
  return out;
}

template <typename Type>
void reset_peaks_of(Type type, c10::DeviceIndex index) {
  if constexpr (kHasDeviceAllocator<Type>) {
    if (auto* allocator = getDeviceAllocator(type); allocator->initialized()) allocator->resetPeakStats(index);
  } else {
#ifdef RIDGELINE_CUDA_HEADERS
    c10::cuda::CUDACachingAllocator::resetPeakStats(index);
#endif
  }
}

template <typename Type>
bool empty_cache_of(Type type) {
  if constexpr (kHasDeviceAllocator<Type>) {
    auto* allocator = getDeviceAllocator(type);
    if constexpr (requires { allocator->emptyCache(); }) {
      if (allocator->initialized()) allocator->emptyCache();
      return true;
    }
    return false;
  } else {
#ifdef RIDGELINE_CUDA_HEADERS
    c10::cuda::CUDACachingAllocator::emptyCache();
    return true;
#else
    static_cast<void>(type);
    return false;
#endif
  }
}

c10::impl::VirtualGuardImpl guard() { return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA); }

c10::Device device_named(const std::string& name) {
  if (name == "cpu") return c10::Device(c10::DeviceType::CPU);
  if (name.rfind("cuda:", 0) != 0 || name.find_first_not_of("0123456789", 5) != std::string::npos || name.size() > 8)
    refuse("device " + name + ": expected cpu or cuda:N");
  const int index = std::stoi(name.substr(5));
  const int count = cuda_device_count();
  if (!c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA))
    refuse(RL_TRAIN_UNAVAILABLE, "device " + name +
                                     ": this LibTorch " TORCH_VERSION
                                     " is a CPU build; build the plugin against a torch with CUDA by "
                                     "scripts/build_torch_plugin.sh --python PYTHON, or use --devices cpu");
  if (index >= count)
    refuse(RL_TRAIN_UNAVAILABLE, "device " + name + ": LibTorch sees " + std::to_string(count) +
                                     " CUDA devices; use --devices cpu or another number");
  if (!kTellsTimes<c10::Event>)
    refuse(RL_TRAIN_UNAVAILABLE, "device " + name +
                                     ": built-in models on a GPU need torch 2.5 or later, this is " TORCH_VERSION
                                     "; use --python");
  return c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index));
}

}  // namespace

int cuda_device_count() noexcept {
  if (!c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) return 0;
  return guard().deviceCount();
}

bool release_device_memory() { return cuda_device_count() > 0 && empty_cache_of(c10::DeviceType::CUDA); }

TrainingDevice::TrainingDevice(const std::string& name) : device_(device_named(name)) {
  if (cuda()) guard().setDevice(device_);
}

void TrainingDevice::synchronize() const {
  if (cuda()) wait_for(guard(), device_);
}

c10::Stream TrainingDevice::stream() const { return guard().getStream(device_); }

void TrainingDevice::wait(const c10::Event& event) const { wait_for_event(event, *this); }

MemoryNumbers TrainingDevice::memory() const {
  return cuda() ? memory_of(device_.type(), device_.index()) : MemoryNumbers{};
}

void TrainingDevice::reset_peaks() const {
  if (cuda()) reset_peaks_of(device_.type(), device_.index());
}

void Marks::begin(std::size_t count) {
  used_ = 0;
  if (!device_.cuda()) {
    times_.resize(count);
    return;
  }
  events_.reserve(count);
  while (events_.size() < count) events_.emplace_back(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
}

void Marks::mark() {
  if (device_.cuda())
    events_.at(used_).record(device_.stream());
  else
    times_.at(used_) = std::chrono::steady_clock::now();
  ++used_;
}

double Marks::between(std::size_t first, std::size_t second) const {
  if (device_.cuda()) return elapsed_ms(events_.at(first), events_.at(second));
  return std::chrono::duration<double, std::milli>(times_.at(second) - times_.at(first)).count();
}

}  // namespace ridgeline::torch_plugin
