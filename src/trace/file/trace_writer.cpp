// SPDX-License-Identifier: Apache-2.0
#include "trace/file/trace_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"
#include "trace/file/column_writer.hpp"
#include "trace/file/table_columns.hpp"

namespace ridgeline::trace {
namespace {

using base::Result;

/// At most kEnoughBytes, whole characters of UTF-8.
std::string_view cut_text(std::string_view text) {
  if (text.size() <= kEnoughBytes) return text;
  auto size = kEnoughBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace

Result<TraceWriter> TraceWriter::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return base::os_failure("write", path, errno);
  TraceWriter writer(fd, path);
  // A string table has "" from the beginning, and so has who reads.
  writer.done(BlockKind::strings) = 1;
  std::string header(kTraceMagic);
  put_u32(header, kTraceVersion);
  RL_TRY(writer.write(header));
  return writer;
}

TraceWriter::TraceWriter(TraceWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      done_(other.done_),
      events_(other.events_),
      plain_(std::move(other.plain_)) {}

TraceWriter::~TraceWriter() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> TraceWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return base::os_failure("write", path_, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

template <typename Put>
Result<void> TraceWriter::append_items(BlockKind kind, std::size_t count, Put put) {
  while (done(kind) < count) {
    plain_.clear();
    auto next = done(kind);
    while (next < count && plain_.size() < kEnoughBytes) put(next++);
    std::string block;
    put_varint(block, next - done(kind));
    RL_TRY(write(make_block(kind, block + plain_)));
    done(kind) = next;
  }
  return {};
}

template <typename Rows>
Result<void> TraceWriter::append_events(BlockKind kind, const Rows& table) {
  while (done(kind) < table.size()) {
    const auto from = done(kind);
    const auto to = std::min(table.size(), from + kMostBlockEvents);
    plain_.clear();
    put_varint(plain_, to - from);
    ColumnWriter columns(plain_, from, to);
    code_columns(columns, table);
    RL_TRY(write(make_block(kind, plain_)));
    done(kind) = to;
    events_ += to - from;
  }
  return {};
}

Result<void> TraceWriter::append(const Trace& trace) {
  const auto number = [&](std::int64_t value) { put_varint(plain_, zigzag(value)); };
  const auto text = [&](std::string_view value) { put_text(plain_, cut_text(value)); };
  RL_TRY(append_items(BlockKind::strings, trace.strings.size(),
                      [&](std::size_t i) { text(trace.strings.text(static_cast<NameId>(i))); }));
  RL_TRY(append_items(BlockKind::gpu_lanes, trace.gpu_lanes.size(), [&](std::size_t i) {
    const auto& lane = trace.gpu_lanes[i];
    for (const auto value : {lane.process, std::int64_t{lane.device}, lane.context, lane.stream}) number(value);
  }));
  RL_TRY(append_items(BlockKind::thread_lanes, trace.thread_lanes.size(), [&](std::size_t i) {
    number(trace.thread_lanes[i].process);
    number(trace.thread_lanes[i].thread);
  }));
  RL_TRY(append_items(BlockKind::devices, trace.devices.size(), [&](std::size_t i) {
    const auto& device = trace.devices[i];
    number(device.id);
    text(device.name);
    number(device.multiprocessors);
    text(device.compute_capability);
  }));
  RL_TRY(append_items(BlockKind::notes, trace.notes.size(),
                      [&](std::size_t i) { text(base::dump_json(trace.notes[i])); }));
  Result<void> result;
  each_table(trace, [&](BlockKind kind, const auto& table) {
    if (result) result = append_events(kind, table);
  });
  // Programs that do not know these blocks stop at the first, so they come last, and only if they are of use.
  const bool any_known = std::any_of(trace.devices.begin(), trace.devices.end(),
                                     [](const auto& device) { return device.memory_bytes_per_s > 0; });
  if (result && any_known)
    result = append_items(BlockKind::bandwidths, trace.devices.size(), [&](std::size_t i) {
      put_varint(plain_, i);
      number(trace.devices[i].memory_bytes_per_s);
    });
  return result;
}

Result<void> TraceWriter::finish() {
  plain_.clear();
  put_varint(plain_, events_);
  RL_TRY(write(make_block(BlockKind::end, plain_)));
  // Network file systems tell only now what they could not write.
  if (::close(std::exchange(fd_, -1)) != 0) return base::os_failure("write", path_, errno);
  return {};
}

Result<void> write_trace_file(const Trace& trace, const std::string& path) {
  RL_TRY_ASSIGN(auto writer, TraceWriter::create(path));
  auto result = writer.append(trace);
  if (result) result = writer.finish();
  if (!result) ::unlink(path.c_str());
  return result;
}

}  // namespace ridgeline::trace
