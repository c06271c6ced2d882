// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "base/error.hpp"
#include "trace/file/block_format.hpp"
#include "trace/trace.hpp"

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
  ~TraceWriter();
  TraceWriter(TraceWriter&& other) noexcept;
  TraceWriter& operator=(TraceWriter&&) = delete;

  /// What is new since the last call, of the same trace; what was there then must be as it was. Names of more than
  /// 1 MiB are cut. Errors: io; the file is a trace up to there, and nothing more is to be appended.
  [[nodiscard]] base::Result<void> append(const Trace& trace);
  /// Marks the trace as complete. Errors: io. To be called once, as the last.
  [[nodiscard]] base::Result<void> finish();

 private:
  TraceWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  template <typename Put>
  [[nodiscard]] base::Result<void> append_items(BlockKind kind, std::size_t count, Put put);
  template <typename Rows>
  [[nodiscard]] base::Result<void> append_events(BlockKind kind, const Rows& table);
  [[nodiscard]] base::Result<void> write(std::string_view bytes);
  [[nodiscard]] std::size_t& done(BlockKind kind) noexcept { return done_[static_cast<std::size_t>(kind)]; }

  int fd_ = -1;
  std::string path_;
  std::array<std::size_t, kBlockKinds> done_{};  ///< rows that are in the file
  std::uint64_t events_ = 0;
  std::string plain_;  ///< of the block that is made
};

/// A whole trace at once. Errors: those of TraceWriter; no file is left then.
[[nodiscard]] base::Result<void> write_trace_file(const Trace& trace, const std::string& path);

}  // namespace ridgeline::trace
