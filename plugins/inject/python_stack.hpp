// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "python_layout.hpp"

namespace ridgeline::inject {

/// The line of Python that a thread runs, read from its own frames. A thread that has given up Python's lock may read
/// them, because nobody else changes them. One a thread; what it refers to must never be freed.
class PythonStack {
 public:
  PythonStack(const PythonLayout& layout, const PythonFiles& files) : layout_(layout), files_(files) {}

  /// Whether this thread runs Python.
  [[nodiscard]] static bool is_of_python(const PythonLayout& layout) { return state_of_thread(layout) != 0; }

  /// "net.py(57): forward": the innermost line of the program or of a library that is no part of torch; of code that
  /// torch has compiled, the line that called it. nullptr: none, or one whose file or function is not named in ASCII.
  /// The text is the same object for the same line, and lives as long as the process.
  [[nodiscard]] const std::string* line();

 private:
  using Address = std::uintptr_t;
  static Address state_of_thread(const PythonLayout& layout) {
    return reinterpret_cast<Address (*)()>(layout.thread_state)();
  }
  enum class Kind : std::uint8_t { left_out, wanted, compiled, enters_compiled };
  /// A place in a code object. Its address may come again as that of another one, which has other contents.
  struct Known {
    Address code = 0;
    std::int64_t place = 0;
    int first_line = 0;
    std::string file;
    std::string name;
    std::string lines;
    const std::string* text = nullptr;
  };
  struct KnownKind {
    Address code = 0;
    Address file = 0;
    Kind kind = Kind::left_out;
  };
  static constexpr std::size_t kKnownKinds = 512;
  static constexpr std::size_t kKnownPlaces = 512;
  static constexpr int kMostFrames = 100;

  [[nodiscard]] Kind kind_of(Address code);
  [[nodiscard]] const std::string* make_text(const Known& known) const;
  [[nodiscard]] Kind kind_of_file(std::string_view file) const;
  [[nodiscard]] const std::string* text_of(Address code, Address frame);
  [[nodiscard]] std::int64_t place_of(Address code, Address frame) const;
  [[nodiscard]] std::string_view text(Address object) const;
  [[nodiscard]] std::string_view bytes(Address object) const;
  [[nodiscard]] std::string_view shortened(std::string_view file) const;

  const PythonLayout& layout_;
  const PythonFiles& files_;
  std::array<KnownKind, kKnownKinds> kinds_{};
  std::vector<Known> places_ = std::vector<Known>(kKnownPlaces);
};

}  // namespace ridgeline::inject
