// SPDX-License-Identifier: Apache-2.0
#include "loader/other_places.hpp"

#include <cstdlib>

namespace ridgeline::loader {

std::string hdf5_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::filesystem::path prefix_folder(std::string_view prefix, const std::filesystem::path& origin) {
  constexpr std::string_view kOrigin = "${ORIGIN}";
  if (prefix.substr(0, kOrigin.size()) == kOrigin) return origin.string() + std::string(prefix.substr(kOrigin.size()));
  return prefix == "." ? "" : prefix;
}

std::string virtual_name(VirtualName get, hid_t properties, std::size_t index) {
  const auto length = get(properties, index, nullptr, 0);
  if (length <= 0) return "";
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  get(properties, index, name.data(), name.size());
  return name.c_str();
}

std::string expand_block(const std::string& pattern, std::uint64_t block, bool& has_block) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%' || (next != 'b' && next != '%')) {
      name += pattern[i];
      continue;
    }
    name += next == 'b' ? std::to_string(block) : "%";
    has_block = has_block || next == 'b';
    ++i;
  }
  return name;
}

}  // namespace ridgeline::loader
