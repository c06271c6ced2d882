// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace ridgeline::execute {

/// An anonymous shared file (memfd) of some size, mapped into this process.
class SharedBytes {
 public:
  /// The parent's side, zeroed.
  [[nodiscard]] static base::Result<SharedBytes> create(std::size_t size);
  /// The child's side; the descriptor stays open. invalid_argument when the file has another size.
  [[nodiscard]] static base::Result<SharedBytes> attach(int fd, std::size_t size);
  SharedBytes(SharedBytes&& other) noexcept;
  SharedBytes& operator=(SharedBytes&& other) noexcept;
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  ~SharedBytes();

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  SharedBytes() = default;
  int fd_ = -1;  ///< owned by the parent's side only
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A T that parent and child both see, even after the child's sudden death: of lock-free atomics. Constructed by the
/// parent, never destroyed.
template <typename T>
class SharedMemory {
 public:
  [[nodiscard]] static base::Result<SharedMemory> create() {
    RL_TRY_ASSIGN(auto bytes, SharedBytes::create(sizeof(T)));
    T* value = new (bytes.data()) T;
    return SharedMemory(std::move(bytes), value);
  }
  [[nodiscard]] static base::Result<SharedMemory> attach(int fd) {
    RL_TRY_ASSIGN(auto bytes, SharedBytes::attach(fd, sizeof(T)));
    T* value = std::launder(static_cast<T*>(bytes.data()));
    return SharedMemory(std::move(bytes), value);
  }

  [[nodiscard]] T& operator*() const noexcept { return *value_; }
  [[nodiscard]] T* operator->() const noexcept { return value_; }
  [[nodiscard]] int fd() const noexcept { return bytes_.fd(); }

 private:
  SharedMemory(SharedBytes bytes, T* value) : bytes_(std::move(bytes)), value_(value) {}
  SharedBytes bytes_;
  T* value_;
};

}  // namespace ridgeline::execute
