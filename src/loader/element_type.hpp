// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"

namespace ridgeline::loader {

enum class ElementKind : std::uint8_t { signed_integer, unsigned_integer, floating, opaque };

/// One element as it lies in the file. Delivered elements are always in the host's byte order; `opaque` ones (compound
/// and the like) are the HDF5 library's native in-memory form of the file's type.
struct ElementType {
  ElementKind kind = ElementKind::opaque;
  std::uint32_t size = 0;  ///< bytes of a delivered element
  bool big_endian = false;

  /// "float32", "uint8"; an opaque element of 12 bytes is "opaque12".
  [[nodiscard]] std::string name() const;
  friend bool operator==(const ElementType&, const ElementType&) = default;
};

}  // namespace ridgeline::loader

template <>
struct ridgeline::base::EnumNames<ridgeline::loader::ElementKind> {
  using K = loader::ElementKind;
  static constexpr std::array names{std::pair{K::signed_integer, "int"}, std::pair{K::unsigned_integer, "uint"},
                                    std::pair{K::floating, "float"}, std::pair{K::opaque, "opaque"}};
};

inline std::string ridgeline::loader::ElementType::name() const {
  return fmt::format("{}{}", base::enum_name(kind), kind == ElementKind::opaque ? size : size * 8);
}
