// SPDX-License-Identifier: Apache-2.0
#include "stream/image_bytes.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::stream {

void ImageBytes::resize(std::size_t size) {
  if (size > capacity_ || place_ == ImagePlace::device) reserve(size);
  if (size > size_) std::fill(data() + size_, data() + size, std::uint8_t{0});
  size_ = size;
}

void ImageBytes::assign(std::size_t size, std::uint8_t value) {
  resize(size);
  std::fill(begin(), end(), value);
}

void ImageBytes::copy(const std::uint8_t* bytes, std::size_t size) {
  if (size > capacity_ || place_ == ImagePlace::device) {
    size_ = 0;  // nothing of it needs to be kept
    reserve(size);
  }
  size_ = size;
  std::copy_n(bytes, size, data());
}

void ImageBytes::reserve(std::size_t size) {
  auto block = memory_ != nullptr ? memory_->allocate(size) : nullptr;
  const auto place = block != nullptr ? memory_->place() : ImagePlace::pageable;
  if (block == nullptr)
    block = std::shared_ptr<std::uint8_t>(new std::uint8_t[size], std::default_delete<std::uint8_t[]>());
  const auto kept = place_ == ImagePlace::device ? 0 : std::min(size_, size);
  std::copy_n(data(), kept, block.get());
  block_ = std::move(block);
  place_ = place;
  size_ = kept;
  capacity_ = size;
}

void ImageBytes::swap(ImageBytes& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(block_, other.block_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(place_, other.place_);
}

bool operator==(const ImageBytes& a, const ImageBytes& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace ridgeline::stream
