// SPDX-License-Identifier: Apache-2.0
#include "loader/signed_form.hpp"

#include <algorithm>
#include <cstring>

namespace ridgeline::loader {
namespace {

template <typename From, typename To>
void convert(const std::byte* from, std::byte* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof value);
    const auto wide = static_cast<To>(value);
    std::memcpy(to + i * sizeof(To), &wide, sizeof wide);
  }
}

}  // namespace

ElementType signed_form(const ElementType& stored) noexcept {
  if (stored.kind != ElementKind::unsigned_integer || stored.size == 1) return stored;
  return {ElementKind::signed_integer, std::min<std::uint32_t>(8, stored.size * 2), stored.big_endian};
}

std::optional<std::uint64_t> to_signed_form(const ElementType& stored, std::span<const std::byte> from,
                                            std::span<std::byte> to) noexcept {
  const auto count = from.size() / stored.size;
  if (signed_form(stored) == stored || stored.size == 8) {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  } else if (stored.size == 2) {
    convert<std::uint16_t, std::int32_t>(from.data(), to.data(), count);
  } else {
    convert<std::uint32_t, std::int64_t>(from.data(), to.data(), count);
  }
  if (stored.kind != ElementKind::unsigned_integer || stored.size != 8) return std::nullopt;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, from.data() + i * sizeof value, sizeof value);
    all |= value;
    if (all >> 63U != 0) return value;
  }
  return std::nullopt;
}

}  // namespace ridgeline::loader
