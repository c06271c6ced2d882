// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/dynamic_library.hpp"
#include "fakes/fake_nvml.h"

namespace ridgeline::fakes {

/// The fake management library (one state in the process), put back to one idle H200 by each of these objects.
class FakeNvml {
 public:
  explicit FakeNvml(const std::string& path) : library_(base::DynamicLibrary::open({path}).value()) {
    script_ = reinterpret_cast<void (*)(const char*)>(library_.symbol("fake_nvml_script"));
    set_ = reinterpret_cast<void (*)(int, long long)>(library_.symbol("fake_nvml_set"));
    get_ = reinterpret_cast<long long (*)(int)>(library_.symbol("fake_nvml_get"));
    for (int key = 0; key < kFakeKeys; ++key) set_(key, 0);
    set(kFakeDeviceCount, 1);
    set(kFakeMemoryUsed, 500'000'000);
    set(kFakeSmClock, 1980);
    set(kFakePower, 120'000);
  }
  void set(FakeNvmlKey key, long long value) { set_(key, value); }
  /// A whole situation of fake_nvml.h: "healthy", "throttled" ...
  void script(const char* name) { script_(name); }
  [[nodiscard]] long long get(FakeNvmlKey key) const { return get_(key); }

 private:
  base::DynamicLibrary library_;
  void (*script_)(const char*) = nullptr;
  void (*set_)(int, long long) = nullptr;
  long long (*get_)(int) = nullptr;
};

}  // namespace ridgeline::fakes
