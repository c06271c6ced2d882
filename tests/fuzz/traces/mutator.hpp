// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace ridgeline::fuzz {

/// Damages inputs at random, the same way for the same seed.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Below `limit`, which is not 0.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  bool one_in(std::size_t count) { return below(count) == 0; }

  /// One to a few changes: bytes, cuts, repetitions, numbers, words and lines in each other's place.
  void text(std::string& bytes);
  /// Likewise, with none that look for words.
  void binary(std::string& bytes);

 private:
  void change_text(std::string& bytes);
  void change_bytes(std::string& bytes);
  void cut(std::string& bytes);
  void repeat(std::string& bytes);
  void replace_number(std::string& bytes);
  void swap_quoted(std::string& bytes);
  void swap_lines(std::string& bytes);
  struct Span {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  Span number(const std::string& bytes);
  Span quoted(const std::string& bytes);
  Span line(const std::string& bytes);
  static void exchange(std::string& bytes, Span one, Span other);

  std::mt19937_64 random_;
};

}  // namespace ridgeline::fuzz
