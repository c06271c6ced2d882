// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

namespace ridgeline::stream {

/// Where the bytes of a picture are.
enum class ImagePlace : std::uint8_t {
  pageable,     ///< the heap
  page_locked,  ///< memory of the host that a device reads by itself
  device,       ///< memory of a device, which the CPU cannot read
};

/// Memory for pictures other than the heap. Thread-safe.
class ImageMemory {
 public:
  virtual ~ImageMemory() = default;
  /// page_locked or device.
  [[nodiscard]] virtual ImagePlace place() const noexcept = 0;
  /// At least that many bytes, which may outlive this object; nullptr when there are none left.
  [[nodiscard]] virtual std::shared_ptr<std::uint8_t> allocate(std::size_t bytes) = 0;
};

/// The bytes of a picture, with the place and the owner of their memory. It grows like a vector and keeps its memory
/// when it shrinks; a copy is on the heap.
class ImageBytes {
 public:
  ImageBytes() = default;
  ImageBytes(const std::vector<std::uint8_t>& bytes) { copy(bytes.data(), bytes.size()); }  // as if it were one
  ImageBytes(std::initializer_list<std::uint8_t> bytes) { copy(bytes.begin(), bytes.size()); }
  /// Grows in `memory`, which must be the host's, and on the heap once that is used up. nullptr: on the heap.
  explicit ImageBytes(std::shared_ptr<ImageMemory> memory) : memory_(std::move(memory)) {}
  /// `size` bytes that are there already; `block` keeps them.
  ImageBytes(std::shared_ptr<std::uint8_t> block, std::size_t size, ImagePlace place)
      : block_(std::move(block)), size_(size), capacity_(size), place_(place) {}
  ImageBytes(const ImageBytes& other) { copy(other.data(), other.size()); }
  ImageBytes& operator=(const ImageBytes& other) {
    if (this != &other) copy(other.data(), other.size());
    return *this;
  }
  ImageBytes(ImageBytes&& other) noexcept { swap(other); }
  ImageBytes& operator=(ImageBytes&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ImageBytes() = default;

  [[nodiscard]] std::uint8_t* data() noexcept { return block_.get(); }
  [[nodiscard]] const std::uint8_t* data() const noexcept { return block_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint8_t* begin() noexcept { return data(); }
  [[nodiscard]] std::uint8_t* end() noexcept { return data() + size_; }
  [[nodiscard]] const std::uint8_t* begin() const noexcept { return data(); }
  [[nodiscard]] const std::uint8_t* end() const noexcept { return data() + size_; }
  [[nodiscard]] std::uint8_t& operator[](std::size_t at) noexcept { return data()[at]; }
  [[nodiscard]] const std::uint8_t& operator[](std::size_t at) const noexcept { return data()[at]; }
  [[nodiscard]] ImagePlace place() const noexcept { return place_; }

  /// What is new is 0. Bytes on a device are left behind, not copied.
  void resize(std::size_t size);
  void assign(std::size_t size, std::uint8_t value);

  friend bool operator==(const ImageBytes& a, const ImageBytes& b) noexcept;

 private:
  void copy(const std::uint8_t* bytes, std::size_t size);
  void reserve(std::size_t size);
  void swap(ImageBytes& other) noexcept;

  std::shared_ptr<ImageMemory> memory_;
  std::shared_ptr<std::uint8_t> block_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  ImagePlace place_ = ImagePlace::pageable;
};

}  // namespace ridgeline::stream
