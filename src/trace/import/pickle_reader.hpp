// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "trace/import/file_bytes.hpp"
#include "trace/import/pickle_values.hpp"
#include "tracefile/string_table.hpp"

namespace ridgeline::trace {

/// Reads a pickle of plain data (protocols 2 to 5: None, numbers, text, bytes, lists, tuples, sets, dictionaries) and
/// runs nothing: an opcode that would import or call something is an error. Memory stays below twice of what was read
/// and 64 MiB; nothing recurs, however deep values are nested.
///
///     PickleReader reader;
///     RL_TRY_ASSIGN(const auto root, reader.read(path, [](PickleValue list, PickleValue item) { return false; }));
class PickleReader {
 public:
  /// Called for each item of a list, a finished value, as it is appended; true: it was taken, and the list does not get
  /// it.
  using Take = std::function<bool(PickleValue list, PickleValue item)>;

  /// The value of the file. Errors: io; corrupt where the file is cut off or no pickle; unsupported for what would run
  /// code, and where values need more memory than is given.
  [[nodiscard]] base::Result<PickleValue> read(const std::string& path, const Take& take);

  PickleNodes nodes;
  StringTable strings;

  /// The text's number, to compare values with.
  [[nodiscard]] NameId name(std::string_view text) { return strings.id(text); }

 private:
  /// One opcode; false at the end of the value.
  [[nodiscard]] base::Result<bool> step(FileBytes& bytes, int opcode, const Take& take);
  [[nodiscard]] base::Result<void> read_text(FileBytes& bytes, int length_bytes);
  [[nodiscard]] base::Result<void> read_long(FileBytes& bytes, int length_bytes);
  [[nodiscard]] base::Result<std::uint64_t> read_number(FileBytes& bytes, int count);
  [[nodiscard]] base::Result<void> put(std::uint64_t at);
  [[nodiscard]] base::Result<void> get(std::uint64_t at);
  /// The last `count` values become a list.
  [[nodiscard]] base::Result<void> make_tuple(std::size_t count);
  /// What lies above the last mark, which goes: the place of its first value on the stack.
  [[nodiscard]] base::Result<std::size_t> pop_mark();
  /// The values from there on go into the value below them.
  [[nodiscard]] base::Result<void> append_from(std::size_t first, const Take& take);
  [[nodiscard]] base::Result<void> set_from(std::size_t first);
  [[nodiscard]] base::Result<void> need(std::size_t values) const;

  void push(PickleKind kind, std::int64_t bits = 0) { stack_.push_back({kind, 0, bits}); }
  [[nodiscard]] std::size_t bytes() const noexcept;

  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleValue> memo_;
  std::string text_;
  std::size_t text_bytes_ = 0;  ///< of all strings
};

}  // namespace ridgeline::trace
