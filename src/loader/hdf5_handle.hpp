// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridgeline::loader {

/// An identifier of the HDF5 library, closed with its own function. hdf5_mutex() must be held wherever one is made,
/// used or destroyed.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close) noexcept : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, hid_t{-1})), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  [[nodiscard]] bool valid() const noexcept { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Starts the library when needed and stops it from printing its error stack.
void prepare_hdf5();

/// The innermost sentence of the library's error stack, in lower case; "no reason given" when there is none.
[[nodiscard]] std::string hdf5_reason();

/// The kinds of error on the library's stack, innermost first.
struct Hdf5Minors {
  std::vector<hid_t> kinds;
  [[nodiscard]] bool has(hid_t kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }
};
[[nodiscard]] Hdf5Minors hdf5_minors();

/// Whether the library refuses something for being newer than itself, by its own words.
[[nodiscard]] bool too_new(std::string_view reason);

/// "1.10.8": the library's version.
[[nodiscard]] std::string hdf5_version();

/// Opens for reading without taking a file lock where locks are switched off or not to be had.
[[nodiscard]] Hdf5Handle open_hdf5(const std::string& path);

}  // namespace ridgeline::loader
