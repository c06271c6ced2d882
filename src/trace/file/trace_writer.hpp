// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"
#include "tracefile/block_file.hpp"

namespace ridgeline::trace {

/// Writes a trace file (.rltrace) as the trace grows. What append() wrote is in the file: a program that is killed
/// loses only what came after it, as read_trace_file reads up to the last whole block.
///   RL_TRY_ASSIGN(auto writer, TraceWriter::create(path));
///   RL_TRY(writer.append(trace));  // every second
///   RL_TRY(writer.finish());
class TraceWriter {
 public:
  /// Makes the file, or empties the one that is there. Errors: not_found (the folder), io.
  [[nodiscard]] static base::Result<TraceWriter> create(const std::string& path);

  /// What is new since the last call, of the same trace; what was there then must be as it was. Names of more than
  /// 1 MiB are cut. Errors: io; the file is a trace up to there, and nothing more is to be appended.
  [[nodiscard]] base::Result<void> append(const Trace& trace);
  /// Marks the trace as complete. Errors: io. To be called once, as the last.
  [[nodiscard]] base::Result<void> finish();

 private:
  explicit TraceWriter(BlockFile file) : file_(std::move(file)) {}
  /// `append(from, to)`: those of `count` that are not in the file.
  template <typename Append>
  [[nodiscard]] base::Result<void> append_new(BlockKind kind, std::size_t count, Append append);
  template <typename Put>
  [[nodiscard]] base::Result<void> append_items(BlockKind kind, std::size_t count, Put put);

  BlockFile file_;
  std::array<std::size_t, kBlockKinds> done_{};  ///< rows that are in the file
};

/// A whole trace at once. Errors: those of TraceWriter; no file is left then.
[[nodiscard]] base::Result<void> write_trace_file(const Trace& trace, const std::string& path);

}  // namespace ridgeline::trace
