// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "loader/element_type.hpp"

namespace ridgeline::loader {

/// The smallest signed integer type that holds the values of an unsigned one of 16 bits or more: uint16 becomes int32,
/// uint32 int64. uint64 becomes int64 too, for values up to 2^63 - 1. Other types stay as they are. (PyTorch computes
/// with uint8 and signed integers only.)
[[nodiscard]] ElementType signed_form(const ElementType& stored) noexcept;

/// Elements of `stored` type (host's byte order) to their signed form; `to` holds as many of those. The first value
/// that does not fit, if there is one: what comes after it is not converted.
[[nodiscard]] std::optional<std::uint64_t> to_signed_form(const ElementType& stored, std::span<const std::byte> from,
                                                          std::span<std::byte> to) noexcept;

}  // namespace ridgeline::loader
