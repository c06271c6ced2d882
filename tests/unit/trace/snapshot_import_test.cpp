// SPDX-License-Identifier: Apache-2.0
#include "trace/import/snapshot_import.hpp"

#include <utility>

#include "fakes/words.hpp"
#include "trace/analysis/memory.hpp"
#include "trace/import/import_file.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

// Opcodes of values, to be put together.
std::string number(std::int64_t value) {
  std::string out = "\x8a\x08";
  for (int i = 0; i < 8; ++i) out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  return out;
}
std::string text(const std::string& value) { return std::string("\x8c") + static_cast<char>(value.size()) + value; }
std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const auto& item : items) out += item;
  return out + "e";
}
std::string dictionary(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string out = "}(";
  for (const auto& [key, value] : fields) out += text(key) + value;
  return out + "u";
}
std::string pickled(const std::string& value) { return "\x80\x04" + value + "."; }

std::string frame(const std::string& file, std::int64_t line, const std::string& name) {
  return dictionary({{"filename", text(file)}, {"line", number(line)}, {"name", text(name)}});
}
const std::string kTorchFrame = frame("/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", 134, "forward");
std::string frames_of(std::int64_t line) {
  return list({frame("??", 0, "at::native::empty_cuda"), frame("/build/aten/src/ATen/Context.cpp", 7, "empty"),
               kTorchFrame, frame("/home/me/train.py", line, "step"), frame("/home/me/main.py", 3, "<module>")});
}
std::string event(const std::string& action, std::int64_t address, std::int64_t size, std::int64_t time_us,
                  const std::string& frames = list({})) {
  return dictionary({{"action", text(action)},
                     {action == "oom" ? "device_free" : "addr", number(address)},
                     {"size", number(size)},
                     {"stream", number(0)},
                     {"time_us", number(time_us)},
                     {"frames", frames},
                     {"pool_id", "K\x01K\x02\x86"}});
}
std::string block(std::int64_t address, std::int64_t requested, const std::string& state, const std::string& frames) {
  return dictionary({{"address", number(address)},
                     {"size", number(requested + 24)},
                     {"requested_size", number(requested)},
                     {"state", text(state)},
                     {"frames", frames}});
}
std::string segment(std::int64_t device, std::int64_t total, const std::vector<std::string>& blocks) {
  return dictionary({{"device", number(device)},
                     {"address", number(1000)},
                     {"total_size", number(total)},
                     {"allocated_size", number(0)},
                     {"blocks", list(blocks)}});
}
std::string snapshot(const std::vector<std::string>& segments, const std::vector<std::string>& traces) {
  return pickled(dictionary({{"segments", list(segments)},
                             {"device_traces", list(traces)},
                             {"allocator_settings", dictionary({{"expandable_segments", "\x89"}})}}));
}

class SnapshotImportTest : public TraceFilesTest {
 protected:
  std::string small() const {
    return write(
        snapshot({segment(0, 4096,
                          {block(1000, 500, "active_allocated", frames_of(7)), block(1500, 9, "inactive", "N"),
                           block(1600, 300, "active_allocated", frames_of(41))}),
                  segment(1, 100, {block(7, 60, "active_allocated", list({}))})},
                 {list({event("segment_alloc", 1000, 2048, 10), event("alloc", 1600, 300, 11, frames_of(41)),
                        event("alloc", 1900, 200, 12, list({kTorchFrame})), event("segment_map", 5000, 1048, 13),
                        event("free_requested", 1900, 200, 14), event("free_completed", 1900, 200, 14),
                        event("free_requested", 3000, 50, 15), event("oom", 77, 9999, 16, frames_of(42)),
                        event("snapshot", 0, 0, 17), event("user_defined", 0, 0, 18)}),
                  list({})}),
        "a.bin");
  }
};

TEST_F(SnapshotImportTest, totals_follow_from_the_state_at_the_end) {
  const auto trace = import_snapshot(small());
  ASSERT_TRUE(trace) << trace.error().message;
  const auto& all = trace->allocations;
  using enum AllocationKind;
  EXPECT_EQ(all.kind, (std::vector{reserved, allocated, allocated, reserved, freed, freed, out_of_memory, held, held}));
  EXPECT_EQ(all.time_ns, (std::vector<std::int64_t>{10000, 11000, 12000, 13000, 14000, 15000, 16000, 10000, 10000}));
  EXPECT_EQ(all.bytes, (std::vector<std::int64_t>{2048, 300, 200, 1048, -200, -50, 9999, 500, 60}));
  EXPECT_EQ(all.allocated_bytes, (std::vector<std::int64_t>{550, 850, 1050, 1050, 850, 800, 800, 550, 60}));
  EXPECT_EQ(all.reserved_bytes, (std::vector<std::int64_t>{3048, 3048, 3048, 4096, 4096, 4096, 4096, 1000, 100}));
  EXPECT_EQ(all.device, (std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 0, 0, 1}));
  const auto place = [&](std::size_t i) { return std::string(trace->strings.text(all.place[i])); };
  EXPECT_EQ(place(1), "train.py(41): step");
  EXPECT_EQ(place(2), "");
  EXPECT_EQ(place(6), "train.py(42): step");
  EXPECT_EQ(place(7), "train.py(7): step");
  EXPECT_EQ(all.address[6], 77);
  ASSERT_EQ(trace->notes.size(), 1U);
  EXPECT_EQ(fakes::text_of(trace->notes[0]), "unknown events, left out: 1");
}

TEST_F(SnapshotImportTest, is_a_profile_of_memory) {
  auto file = import_file(small());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->kind, FileKind::snapshot);
  const auto rows = memory_rows(AnalysedTrace(*file->trace));
  ASSERT_EQ(rows.size(), 2U);
  const auto& row = rows[0];
  EXPECT_EQ(row.peak_allocated_bytes, 1050);
  EXPECT_EQ(row.reserved_at_peak_bytes, 3048);
  EXPECT_EQ(row.peak_reserved_bytes, 4096);
  EXPECT_EQ(row.end_bytes, 800);
  EXPECT_EQ(row.allocations, 2);
  EXPECT_EQ(row.frees, 2);
  std::vector<std::pair<std::string, std::int64_t>> holders;
  for (const auto& one : row.holders) holders.emplace_back(one.place, one.bytes);
  EXPECT_EQ(holders, (std::vector<std::pair<std::string, std::int64_t>>{{"train.py(7): step", 500},
                                                                        {"train.py(41): step", 300},
                                                                        {"(unknown place)", 200},
                                                                        {"(before the recording)", 50}}));
  ASSERT_EQ(row.out_of_memory.size(), 1U);
  EXPECT_EQ(row.out_of_memory[0].asked_bytes, 9999);
  EXPECT_EQ(row.out_of_memory[0].free_bytes, 77);
  EXPECT_EQ(rows[1].peak_allocated_bytes, 60);
}

TEST_F(SnapshotImportTest, without_history_the_end_is_all) {
  const auto trace = import_snapshot(
      write(snapshot({segment(0, 4096, {block(1000, 500, "active_allocated", frames_of(7))})}, {list({})})));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->notes.size(), 1U);
  const auto rows = memory_rows(AnalysedTrace(*trace));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].peak_allocated_bytes, 500);
  EXPECT_EQ(rows[0].reserved_at_peak_bytes, 4096);
  EXPECT_EQ(rows[0].allocations, 0);
}

TEST_F(SnapshotImportTest, a_completed_free_counts_where_no_request_was_recorded) {
  // torch.cuda.memory._record_memory_history(skip_actions=["free_requested"]), and the end of a free of before.
  const auto trace = import_snapshot(write(snapshot(
      {},
      {list({event("free_completed", 64, 7, 1), event("alloc", 64, 300, 2), event("free_completed", 64, 300, 3),
             event("alloc", 64, 100, 4), event("free_requested", 64, 100, 5), event("free_completed", 64, 100, 6)})})));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->allocations.bytes, (std::vector<std::int64_t>{-7, 300, -300, 100, -100}));
  EXPECT_EQ(trace->allocations.allocated_bytes, (std::vector<std::int64_t>{0, 300, 0, 100, 0}));
}

TEST_F(SnapshotImportTest, a_backward_pass_without_python_has_nodes_of_autograd) {
  const auto node = [](const std::string& name) {
    return frame("??", 0,
                 "torch::autograd::" + name + "::apply(std::vector<at::Tensor, std::allocator<at::Tensor> >&&)");
  };
  const auto engine = frame("", 0, "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask>)");
  const auto at = [&](int i, const std::string& frames) { return event("alloc", i, 1, i, frames); };
  const auto trace = import_snapshot(write(
      snapshot({}, {list({at(1, list({frame("??", 0, "at::native::mm"), node("generated::MmBackward0"), engine})),
                          at(2, list({node("AccumulateGrad"), engine, frame("/home/me/train.py", 9, "step")})),
                          at(3, list({node("PyNode"), engine})), at(4, list({frame("", 0, "::apply("), engine}))})})));
  ASSERT_TRUE(trace) << trace.error().message;
  std::vector<std::string> places;
  for (const auto place : trace->allocations.place) places.emplace_back(trace->strings.text(place));
  EXPECT_EQ(places, (std::vector<std::string>{"backward: MmBackward0", "train.py(9): step", "", ""}));
}

TEST_F(SnapshotImportTest, places_are_one_line) {
  const auto trace = import_snapshot(write(snapshot(
      {segment(0, 4096, {block(1000, 500, "active_allocated", list({frame("/home/me/\x1b[31m\xff.py", 7, "a\nb")}))})},
      {list({})})));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->strings.text(trace->allocations.place.at(0)), "\\x1b[31m\uFFFD.py(7): a\\x0ab");
}

TEST_F(SnapshotImportTest, sums_of_hostile_sizes_stay_within_64_bits) {
  const std::int64_t huge = std::int64_t{1} << 62;
  std::vector<std::string> events;
  std::vector<std::string> blocks;
  for (int i = 0; i < 40; ++i) {
    events.push_back(event(i % 3 == 0 ? "free_requested" : "alloc", i, huge, -huge + i));
    blocks.push_back(block(i, huge, "active_allocated", list({})));
  }
  const auto trace = import_snapshot(write(snapshot({segment(0, huge, blocks)}, {list(events)})));
  ASSERT_TRUE(trace) << trace.error().message;
  for (const auto& row : memory_rows(AnalysedTrace(*trace))) EXPECT_GE(row.peak_allocated_bytes, 0);
}

TEST_F(SnapshotImportTest, other_pickles_are_one_line) {
  for (const auto& [content, words] : std::vector<std::pair<std::string, std::string>>{
           {pickled(number(7)), "no snapshot"},
           {pickled(dictionary({{"segments", list({})}})), "no snapshot"},
           {snapshot({}, {list({})}), "nothing was allocated"},
           {pickled("ctorch._utils\n_rebuild_tensor_v2\n"), "GLOBAL would run code"},
           {pickled(dictionary({{"segments", list({event("alloc", 1, 2, 3)})}, {"device_traces", list({})}})),
            "belong to no device"}}) {
    const auto trace = import_snapshot(write(content));
    ASSERT_FALSE(trace) << words;
    EXPECT_NE(trace.error().message.find(words), std::string::npos) << trace.error().message;
  }
}

TEST_F(SnapshotImportTest, bears_values_of_other_types) {
  const std::string itself("h\0", 2);
  const std::string own = "}\x94(" + text("action") + text("alloc") + text("size") + text("big") + text("addr") +
                          itself + text("frames") + itself + "u";
  const auto trace = import_snapshot(write(snapshot(
      {dictionary({{"device", text("x")}, {"total_size", number(-5)}, {"blocks", text("none")}}), number(1), list({})},
      {list({own, event("alloc", 1, std::int64_t{1} << 62, -7, number(3)), dictionary({}), number(4),
             event("free_requested", 1, -5, std::int64_t{1} << 62, list({number(1), list({}), dictionary({})}))})})));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->allocations.size(), 3U);
  EXPECT_FALSE(memory_rows(AnalysedTrace(*trace)).empty());
}

}  // namespace
}  // namespace ridgeline::trace
