// SPDX-License-Identifier: Apache-2.0
#include "loader/chunk_table.hpp"

#include <algorithm>

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 62U;

}  // namespace

Result<std::uint64_t> ChunkTable::place_of(std::span<const std::uint64_t> steps) const {
  std::uint64_t place = 0;
  for (std::size_t axis = 0; axis < grid_.size(); ++axis) {
    if (steps[axis] >= grid_[axis])
      return fail(ErrorCode::corrupt, "a chunk {} chunks along axis {}, outside the grid of {}", steps[axis], axis,
                  grid_[axis]);
    place = place * grid_[axis] + steps[axis];
  }
  return place;
}

Result<void> ChunkTable::put(std::uint64_t place, std::uint64_t address, std::uint64_t bytes, std::uint32_t mask) {
  if (address == ChunkEntry::kMissing) return {};
  if (address > file_bytes_ || bytes > 0xFFFFFFFFU)
    return fail(ErrorCode::corrupt, "chunk {} ({} bytes at {}) reaches beyond the file", layout_.chunk_name(place),
                bytes, address);
  entries_[static_cast<std::size_t>(place)] = {base_ + address, static_cast<std::uint32_t>(bytes), mask};
  return {};
}

Result<void> ChunkTable::put_next(std::uint64_t place, std::uint64_t address, std::uint64_t bytes, std::uint32_t mask) {
  if (place < next_allowed_)
    return fail(ErrorCode::corrupt, "chunk {} is out of order or listed twice", layout_.chunk_name(place));
  next_allowed_ = place + 1;
  return put(place, address, bytes, mask);
}

Result<ArrayOrder> ArrayOrder::make(const DatasetLayout& layout, std::span<const std::uint64_t> max_shape) {
  const auto grid = layout.grid();
  std::vector<std::size_t> sequence;
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    const auto most = max_shape.empty() ? layout.shape[axis] : max_shape[axis];
    if (most < layout.shape[axis])
      return fail(ErrorCode::corrupt, "a greatest extent of {} on axis {}, now {}", most, axis, layout.shape[axis]);
    sequence.push_back(axis);
    if (most != kUnlimited) continue;
    if (!max_shape.empty() && std::count(max_shape.begin(), max_shape.end(), kUnlimited) > 1)
      return fail(ErrorCode::unsupported, "an array over several axes without a limit");
    std::rotate(sequence.begin(), sequence.end() - 1, sequence.end());
  }
  ArrayOrder order;
  order.end_ = 1;
  order.axes_.resize(sequence.size());
  std::uint64_t stride = 1;
  for (std::size_t i = sequence.size(); i-- > 0;) {
    const auto axis = sequence[i];
    const auto chunk = layout.chunk_shape[axis];
    const auto most = max_shape.empty() ? layout.shape[axis] : max_shape[axis];
    std::uint64_t grid_stride = 1;
    for (std::size_t inner = axis + 1; inner < grid.size(); ++inner) grid_stride *= grid[inner];
    order.axes_[i] = {stride, grid_stride, grid[axis]};
    if (grid[axis] > 0 && grid[axis] - 1 > (kMostElements - order.end_) / stride)
      return fail(ErrorCode::unsupported, "chunk numbers beyond 2^62");
    order.end_ += (std::max<std::uint64_t>(grid[axis], 1) - 1) * stride;
    if (most == kUnlimited) return order;  // it comes first, so nothing is left
    const auto chunks = most / chunk + (most % chunk != 0 ? 1 : 0);
    if (chunks > kMostElements / stride) return fail(ErrorCode::unsupported, "chunk numbers beyond 2^62");
    stride *= std::max<std::uint64_t>(chunks, 1);
  }
  order.capacity_ = stride;
  return order;
}

std::uint64_t ArrayOrder::place(std::uint64_t number) const noexcept {
  std::uint64_t place = 0;
  for (const auto& axis : axes_) {
    const auto step = number / axis.stride;
    number %= axis.stride;
    if (step >= axis.extent) return kOutside;
    place += step * axis.grid_stride;
  }
  return place;
}

std::uint64_t ArrayOrder::number(std::uint64_t place) const noexcept {
  std::uint64_t number = 0;
  for (const auto& axis : axes_) number += place / axis.grid_stride % axis.extent * axis.stride;
  return number;
}

Result<ArrayElement> ArrayElement::make(std::uint64_t client, std::uint64_t bytes, unsigned address_bytes) {
  constexpr unsigned kMaskBytes = 4;
  ArrayElement element{address_bytes, 0};
  if (client == 1 && bytes > address_bytes + kMaskBytes && bytes <= address_bytes + kMaskBytes + 8)
    element.size_bytes = static_cast<unsigned>(bytes) - address_bytes - kMaskBytes;
  else if (client != 0 || bytes != address_bytes)
    return fail(ErrorCode::corrupt, "a chunk array of kind {} with elements of {} bytes", client, bytes);
  return element;
}

Result<void> put_elements(FieldReader& in, const ArrayElement& element, std::uint64_t first, std::uint64_t count,
                          const ArrayOrder& order, ChunkTable& table) {
  const auto plain_bytes = table.layout().chunk_bytes();
  const auto last = std::min(first + count, order.end());
  for (auto number = first; number < last; ++number) {
    const auto address = in.address(element.address_bytes);
    const auto bytes = element.size_bytes == 0 ? plain_bytes : in.number(element.size_bytes);
    const auto mask = element.size_bytes == 0 ? 0 : static_cast<std::uint32_t>(in.number(4));
    // Elements outside the present shape are left over from a greater one; the library does not look at them either.
    if (const auto place = order.place(number); place != ArrayOrder::kOutside)
      RL_TRY(table.put(place, address, bytes, mask));
  }
  return in.good() ? Result<void>{} : fail(ErrorCode::corrupt, "a chunk array that is cut off");
}

bool bit_of(std::span<const std::byte> bitmap, std::uint64_t number) noexcept {
  if (number / 8 >= bitmap.size()) return false;
  return (std::to_integer<unsigned>(bitmap[static_cast<std::size_t>(number / 8)]) >> (7 - number % 8) & 1U) != 0;
}

std::string element_name(std::uint64_t number, const ArrayOrder& order, const ChunkTable& table) {
  const auto place = order.place(number);
  return place == ArrayOrder::kOutside ? fmt::format("element {}", number)
                                       : fmt::format("chunk {}", table.layout().chunk_name(place));
}

}  // namespace ridgeline::loader
