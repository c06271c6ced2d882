// SPDX-License-Identifier: Apache-2.0
#include "trace/file/trace_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/json.hpp"

namespace ridgeline::trace {

using base::Result;

Result<TraceWriter> TraceWriter::create(const std::string& path) {
  RL_TRY_ASSIGN(auto file, BlockFile::create(path));
  TraceWriter writer(std::move(file));
  // A string table has "" from the beginning, and so has who reads.
  writer.done_[static_cast<std::size_t>(BlockKind::strings)] = 1;
  return writer;
}

template <typename Append>
Result<void> TraceWriter::append_new(BlockKind kind, std::size_t count, Append append) {
  auto& done = done_[static_cast<std::size_t>(kind)];
  if (done >= count) return {};
  RL_TRY(append(done, count));
  done = count;
  return {};
}

template <typename Put>
Result<void> TraceWriter::append_items(BlockKind kind, std::size_t count, Put put) {
  return append_new(kind, count,
                    [&](std::size_t from, std::size_t to) { return file_.append_items(kind, from, to, put); });
}

Result<void> TraceWriter::append(const Trace& trace) {
  RL_TRY(append_items(BlockKind::strings, trace.strings.size(), [&](std::string& out, std::size_t i) {
    put_text(out, cut_text(trace.strings.text(static_cast<NameId>(i))));
  }));
  const auto append_all = [&](BlockKind kind, const auto& items) {
    return append_items(kind, items.size(), [&](std::string& out, std::size_t i) { put_item(out, items[i]); });
  };
  RL_TRY(append_all(BlockKind::gpu_lanes, trace.gpu_lanes));
  RL_TRY(append_all(BlockKind::thread_lanes, trace.thread_lanes));
  RL_TRY(append_all(BlockKind::devices, trace.devices));
  RL_TRY(append_items(BlockKind::notes, trace.notes.size(), [&](std::string& out, std::size_t i) {
    put_text(out, cut_text(base::dump_json(trace.notes[i])));
  }));
  Result<void> result;
  each_table(trace, [&](BlockKind kind, const auto& table) {
    if (result)
      result = append_new(kind, table.size(),
                          [&](std::size_t from, std::size_t to) { return file_.append_rows(kind, table, from, to); });
  });
  if (result && !trace.graph_nodes.empty()) result = append_all(BlockKind::graph_nodes, trace.graph_nodes);
  if (result && !trace.gpu_samples.empty()) result = append_all(BlockKind::gpu_samples, trace.gpu_samples);
  // Programs that do not know these blocks stop at the first, so they come last, and only if they are of use.
  const bool any_known = std::any_of(trace.devices.begin(), trace.devices.end(),
                                     [](const auto& device) { return device.memory_bytes_per_s > 0; });
  if (result && any_known)
    result = append_items(BlockKind::bandwidths, trace.devices.size(), [&](std::string& out, std::size_t i) {
      put_varint(out, i);
      put_varint(out, zigzag(trace.devices[i].memory_bytes_per_s));
    });
  return result;
}

Result<void> TraceWriter::finish() { return file_.finish(); }

Result<void> write_trace_file(const Trace& trace, const std::string& path) {
  RL_TRY_ASSIGN(auto writer, TraceWriter::create(path));
  auto result = writer.append(trace);
  if (result) result = writer.finish();
  if (!result) ::unlink(path.c_str());
  return result;
}

}  // namespace ridgeline::trace
