// SPDX-License-Identifier: Apache-2.0
#include "loaded_cuda.hpp"

#include <link.h>

#include "driver_calls.hpp"
#include "host/cupti_places.hpp"

namespace ridgeline::inject {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* all) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
          static_cast<std::vector<std::string>*>(all)->emplace_back(info->dlpi_name);
        return 0;
      },
      &out);
  return out;
}

int loaded_cuda_major(const std::vector<std::string>& loaded) {
  for (const auto* library : {"libcudart.so.", "libcupti.so."})
    for (const auto& path : loaded)
      if (const auto major = host::library_major(path, library)) return *major;
  // Programs that link the runtime statically, as nvcc does, have the driver alone.
  using Version = int (*)(int*);
  int version = 0;
  if (const auto ask = reinterpret_cast<Version>(driver_function("cuDriverGetVersion")); ask != nullptr)
    (void)ask(&version);
  return version / 1'000;
}

}  // namespace ridgeline::inject
