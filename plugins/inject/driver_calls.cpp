// SPDX-License-Identifier: Apache-2.0
#include "driver_calls.hpp"

#include <dlfcn.h>

namespace ridgeline::inject {
namespace {

/// Not by headers of CUDA: these functions are the same in all its releases.
struct Driver {
  int (*get_current)(void**) = nullptr;
  int (*push)(void*) = nullptr;
  int (*pop)(void**) = nullptr;
  int (*synchronize)() = nullptr;
};

Driver look_up() {
  Driver out;
  out.get_current = reinterpret_cast<decltype(out.get_current)>(driver_function("cuCtxGetCurrent"));
  out.push = reinterpret_cast<decltype(out.push)>(driver_function("cuCtxPushCurrent_v2"));
  out.pop = reinterpret_cast<decltype(out.pop)>(driver_function("cuCtxPopCurrent_v2"));
  out.synchronize = reinterpret_cast<decltype(out.synchronize)>(driver_function("cuCtxSynchronize"));
  return out;
}

const Driver& driver() {
  static const Driver it = look_up();
  return it;
}

}  // namespace

void* driver_function(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return ::dlsym(library != nullptr ? library : RTLD_DEFAULT, name);
}

void* current_context() {
  void* context = nullptr;
  if (driver().get_current == nullptr || driver().get_current(&context) != 0) return nullptr;
  return context;
}

bool synchronize(void* context) {
  const auto& cuda = driver();
  if (cuda.synchronize == nullptr) return false;
  if (current_context() == context) return cuda.synchronize() == 0;
  if (cuda.push == nullptr || cuda.pop == nullptr || cuda.push(context) != 0) return false;
  const bool done = cuda.synchronize() == 0;
  void* popped = nullptr;
  (void)cuda.pop(&popped);
  return done;
}

}  // namespace ridgeline::inject
