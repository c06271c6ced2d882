// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace ridgeline::base {

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& candidates) {
  std::string reasons;
  for (const auto& candidate : candidates) {
    if (void* handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      link_map* map = nullptr;
      std::filesystem::path path = candidate;
      if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0') path = map->l_name;
      return DynamicLibrary(handle, std::move(path));
    }
    const char* reason = ::dlerror();
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", reason != nullptr ? reason : candidate);
  }
  return fail(ErrorCode::unavailable, "cannot load any of {} candidate libraries: {}", candidates.size(), reasons);
}

void* DynamicLibrary::symbol(const char* name) const noexcept { return ::dlsym(handle_, name); }

}  // namespace ridgeline::base
