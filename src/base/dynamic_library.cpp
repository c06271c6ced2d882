// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace ridgeline::base {

Result<DynamicLibrary> DynamicLibrary::open_file(const std::string& file) {
  if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
    link_map* map = nullptr;
    std::filesystem::path path = file;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0') path = map->l_name;
    return DynamicLibrary(handle, std::move(path));
  }
  const char* reason = ::dlerror();
  return fail(ErrorCode::unavailable, "{}", reason != nullptr ? reason : file);
}

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& candidates) {
  std::string reasons;
  for (const auto& candidate : candidates) {
    auto library = open_file(candidate);
    if (library) return library;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", library.error().message);
  }
  return fail(ErrorCode::unavailable, "cannot load any of {} candidate libraries: {}", candidates.size(), reasons);
}

void* DynamicLibrary::symbol(const char* name) const noexcept { return ::dlsym(handle_, name); }

}  // namespace ridgeline::base
