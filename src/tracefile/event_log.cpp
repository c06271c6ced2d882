// SPDX-License-Identifier: Apache-2.0
#include "tracefile/event_log.hpp"

namespace ridgeline::trace {

using base::Result;

Result<EventLog> EventLog::create(const std::string& path) {
  RL_TRY_ASSIGN(auto file, BlockFile::create(path));
  return EventLog(std::move(file));
}

template <typename Put>
Result<void> EventLog::append_new(BlockKind kind, std::size_t& done, std::size_t count, Put put) {
  RL_TRY(file_.append_items(kind, done, count, put));
  done = count;
  return {};
}

Result<void> EventLog::flush() {
  RL_TRY(append_new(BlockKind::strings, strings_done_, strings_.size(), [&](std::string& out, std::size_t i) {
    put_text(out, cut_text(strings_.text(static_cast<NameId>(i))));
  }));
  const auto append_all = [&](BlockKind kind, std::size_t& done, const auto& items) {
    return append_new(kind, done, items.size(), [&](std::string& out, std::size_t i) { put_item(out, items[i]); });
  };
  RL_TRY(append_all(BlockKind::gpu_lanes, gpu_lanes_done_, gpu_lanes_));
  RL_TRY(append_all(BlockKind::thread_lanes, thread_lanes_done_, thread_lanes_));
  RL_TRY(append_all(BlockKind::devices, devices_done_, devices_));
  Result<void> result;
  each_table(events, [&](BlockKind kind, const auto& table) {
    if (result) result = file_.append_rows(kind, table, 0, table.size());
  });
  events = {};
  RL_TRY(std::move(result));
  // Programs that do not know these blocks stop at the first, so they come behind the events.
  std::size_t written = 0;
  RL_TRY(append_all(BlockKind::graph_nodes, written, graph_nodes_));
  graph_nodes_.clear();
  return {};
}

Result<void> EventLog::finish() {
  RL_TRY(flush());
  RL_TRY(append_new(BlockKind::bandwidths, bandwidths_done_, devices_.size(), [&](std::string& out, std::size_t i) {
    put_varint(out, i);
    put_varint(out, zigzag(devices_[i].memory_bytes_per_s));
  }));
  return file_.finish();
}

}  // namespace ridgeline::trace
