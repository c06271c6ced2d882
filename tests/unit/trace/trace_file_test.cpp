// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/file.hpp"
#include "fakes/words.hpp"
#include "trace/file/trace_reader.hpp"
#include "trace/file/trace_writer.hpp"
#include "trace/import/import_file.hpp"
#include "trace/messages.hpp"
#include "trace_files.hpp"
#include "tracefile/block_format.hpp"
#include "tracefile/table_columns.hpp"
#include "tracefile/varint.hpp"

namespace ridgeline::trace {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

class TraceFileTest : public TraceFilesTest {
 protected:
  [[nodiscard]] std::string path(const std::string& name = "run.rltrace") const { return (folder_ / name).string(); }
  /// A file of these blocks.
  std::string written(const std::vector<std::pair<BlockKind, std::string>>& blocks,
                      std::uint32_t version = kTraceVersion) const {
    std::string bytes(kTraceMagic);
    put_u32(bytes, version);
    for (const auto& [kind, plain] : blocks) bytes += make_block(kind, plain);
    return write(bytes, "made.rltrace");
  }
};

std::string numbers(const std::vector<std::uint64_t>& values) {
  std::string out;
  for (const auto value : values) put_varint(out, value);
  return out;
}

/// `count` more events in every table, with values at the ends of their ranges among them.
void grow(Trace& trace, int count) {
  const auto first = static_cast<int>(trace.calls.size());
  for (int i = first; i < first + count; ++i) {
    const auto name = trace.strings.id(fmt::format("name {}", i % 7));
    const auto gpu = trace.gpu_lane({i % 3, i % 2, kMost - i % 2, kLeast});
    const auto thread = trace.thread_lane({4'000'000'000, -(i % 5)});
    const std::int64_t start = 1'700'000'000'000'000'000 + i * 1009 - i % 3 * 5000;
    auto& kernels = trace.kernels;
    kernels.add(start, i, name, gpu, i % 2 == 0 ? i : kMost - i);
    kernels.grid.push_back({i, std::numeric_limits<std::int32_t>::max(), 1});
    kernels.block.push_back({-1, std::numeric_limits<std::int32_t>::min(), 0});
    kernels.registers.push_back(i % 255);
    kernels.shared_bytes.push_back(-i);
    kernels.graph_node.push_back(i % 2 == 0 ? std::numeric_limits<std::uint64_t>::max() : 0);
    trace.copies.add(start, 10, name, gpu, i);
    trace.copies.bytes.push_back(-1);
    trace.sets.add(start, 0, name, gpu, -i);
    trace.sets.bytes.push_back(std::int64_t{1} << 40);
    trace.syncs.add(start, i, name, gpu, kLeast);
    trace.calls.add(start, i, name, thread, i);
    trace.ranges.add(start, i % 4 == 0 ? 1'000'000'000'000 : 7, name, thread, 0);
    trace.ranges.kind.push_back(static_cast<RangeKind>(i % 4));
    trace.ranges.sequence.push_back(i % 2 == 0 ? -1 : i);
    trace.ranges.forward_thread.push_back(i);
    auto& nodes = trace.nodes;
    nodes.add(start, 1, name, thread, 0);
    nodes.operation.push_back(trace.strings.id("Conv"));
    nodes.provider.push_back(trace.strings.id(""));
    for (auto* column : {&nodes.activation_bytes, &nodes.parameter_bytes, &nodes.output_bytes, &nodes.flops})
      column->push_back(i % 3 - 1);
    auto& counted = trace.counted;
    counted.add(start, i, name, gpu, 0);
    counted.grid.push_back({i, 1, 1});
    counted.block.push_back({32, i, 1});
    counted.path.push_back(trace.strings.id("2nn.Module: Net_0"));
    counted.step.push_back(i / 10);
    counted.graph_nodes.push_back(i % 3);
    counted.dram_read_bytes.push_back(i * 1000);
    counted.dram_write_bytes.push_back(-1);
    counted.l2_bytes.push_back(i);
    counted.tensor_permille.push_back(i % 1001 - 1);
    trace.allocations.add({start, i % 2 == 0 ? i : -i, kMost - i, i * 100, i * 200, i % 3 - 1, thread, name,
                           static_cast<AllocationKind>(i % 5)});
  }
  trace.notes.push_back(messages::cut_off(first));
}

Trace example(int count) {
  Trace trace;
  trace.devices.push_back({0, "NVIDIA H100", 132, "9.0", 3'352'320'000'000});
  grow(trace, count);
  return trace;
}

/// Appends every column's values.
class ColumnLister {
 public:
  template <typename Number>
  void deltas(const std::vector<Number>& column) {
    numbers(column);
  }
  void durations(const std::vector<std::int64_t>& column, const std::vector<std::int64_t>&) { numbers(column); }
  void names(const std::vector<NameId>& column) { numbers(column); }
  template <bool kOfGpu>
  void lanes(const std::vector<LaneId>& column) {
    numbers(column);
  }
  template <typename Kind>
  void kinds(const std::vector<Kind>& column) {
    numbers(column);
  }
  template <typename Number>
  void numbers(const std::vector<Number>& column) {
    for (const auto value : column) values.push_back(static_cast<std::int64_t>(value));
  }
  void extents(const std::vector<Dim3>& column) {
    for (const auto& value : column) values.insert(values.end(), {value.x, value.y, value.z});
  }
  std::vector<std::int64_t> values;
};

void expect_same(const Trace& a, const Trace& b) {
  ASSERT_EQ(a.strings.size(), b.strings.size());
  for (NameId i = 0; i < a.strings.size(); ++i) EXPECT_EQ(a.strings.text(i), b.strings.text(i));
  EXPECT_EQ(a.gpu_lanes, b.gpu_lanes);
  EXPECT_EQ(a.thread_lanes, b.thread_lanes);
  EXPECT_EQ(a.notes, b.notes);
  ASSERT_EQ(a.devices.size(), b.devices.size());
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    EXPECT_EQ(a.devices[i].name, b.devices[i].name);
    EXPECT_EQ(a.devices[i].multiprocessors, b.devices[i].multiprocessors);
    EXPECT_EQ(a.devices[i].compute_capability, b.devices[i].compute_capability);
    EXPECT_EQ(a.devices[i].memory_bytes_per_s, b.devices[i].memory_bytes_per_s);
  }
  ASSERT_EQ(a.graph_nodes.size(), b.graph_nodes.size());
  for (std::size_t i = 0; i < a.graph_nodes.size(); ++i) {
    EXPECT_EQ(a.graph_nodes[i].process, b.graph_nodes[i].process);
    EXPECT_EQ(a.graph_nodes[i].node, b.graph_nodes[i].node);
    EXPECT_EQ(a.strings.text(a.graph_nodes[i].path), b.strings.text(b.graph_nodes[i].path));
  }
  ColumnLister of_a;
  ColumnLister of_b;
  each_table(a, [&](BlockKind, const auto& table) { code_columns(of_a, table); });
  each_table(b, [&](BlockKind, const auto& table) { code_columns(of_b, table); });
  EXPECT_TRUE(of_a.values == of_b.values);
}

TEST_F(TraceFileTest, keeps_every_column) {
  const auto trace = example(1000);
  ASSERT_TRUE(write_trace_file(trace, path()));
  const auto back = read_trace_file(path());
  ASSERT_TRUE(back) << back.error().message;
  expect_same(*back, trace);
  const auto imported = import_file(path());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->kind, FileKind::ridgeline);
  EXPECT_EQ(tool_name(imported->kind), "Ridgeline");
}

TEST_F(TraceFileTest, grows_with_the_trace_in_blocks) {
  Trace trace;
  auto writer = TraceWriter::create(path());
  ASSERT_TRUE(writer);
  for (const int more : {1, 0, 5000, 40'000}) {
    grow(trace, more);
    ASSERT_TRUE(writer->append(trace));
    // As after a kill: what was appended is there, whole.
    const auto so_far = read_trace_file(path());
    ASSERT_TRUE(so_far) << so_far.error().message;
    EXPECT_EQ(so_far->calls.size(), trace.calls.size());
    EXPECT_EQ(fakes::text_of(so_far->notes.back()),
              fmt::format("the file ends early after {} events", 9 * trace.calls.size()));
  }
  ASSERT_TRUE(writer->finish());
  const auto back = read_trace_file(path());
  ASSERT_TRUE(back) << back.error().message;
  expect_same(*back, trace);
}

TEST_F(TraceFileTest, a_file_that_ends_early_gives_its_whole_blocks) {
  const auto trace = example(12);
  ASSERT_TRUE(write_trace_file(trace, path()));
  const auto bytes = *base::read_file(path());
  std::size_t most = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto back = read_trace_file(write(bytes.substr(0, size), "cut.rltrace"));
    if (size < kTraceHeaderBytes) {
      EXPECT_FALSE(back);
      continue;
    }
    ASSERT_TRUE(back) << size << ": " << back.error().message;
    EXPECT_NE(fakes::text_of(back->notes.back()).find("ends early after"), std::string::npos) << size;
    EXPECT_GE(back->kernels.size(), most);
    most = back->kernels.size();
    for (const auto lane : back->kernels.lane) EXPECT_LT(lane, back->gpu_lanes.size());
  }
  EXPECT_EQ(most, 12U);
}

TEST_F(TraceFileTest, damage_is_noticed_wherever_it_is) {
  ASSERT_TRUE(write_trace_file(example(6), path()));
  const auto bytes = *base::read_file(path());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto back = read_trace_file(write(damaged, "damaged.rltrace"));
    if (at < kTraceHeaderBytes) {
      EXPECT_FALSE(back) << at;
    } else {
      ASSERT_TRUE(back) << at << ": " << back.error().message;
      EXPECT_NE(fakes::text_of(back->notes.back()).find("the file "), std::string::npos) << at;
    }
  }
}

TEST_F(TraceFileTest, blocks_that_no_writer_makes_are_one_line) {
  using enum BlockKind;
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  const std::pair<BlockKind, std::string> thread{thread_lanes, numbers({1, 0, 0})};
  const std::pair<BlockKind, std::string> lane{gpu_lanes, numbers({1, 0, 0, 0, 0})};
  for (const auto& blocks : std::vector<std::vector<std::pair<BlockKind, std::string>>>{
           {{strings, ""}},                                       // not even a count
           {{strings, numbers({kHuge})}},                         // a count that the bytes do not bear
           {{strings, numbers({1, 100}) + "short"}},              // a text beyond the end
           {{strings, numbers({1, 1}) + "ab"}},                   // bytes left over
           {{gpu_lanes, numbers({1, 0, kHuge, 0, 0})}},           // a device beyond 32 bits
           {lane, lane},                                          // a lane twice
           {{syncs, numbers({1, 0, 0, 0, 0, 0})}},                // no lane
           {lane, {syncs, numbers({1, 0, 0, 1, 0, 0})}},          // no such name
           {lane, {syncs, numbers({1, 0, 0, 0, 1, 0})}},          // no such lane
           {lane, {syncs, numbers({1, 0, kHuge, 0, 0, 0})}},      // a negative duration
           {lane, {syncs, numbers({1, kHuge - 1, 1, 0, 0, 0})}},  // an end beyond 64 bits
           {lane, {syncs, numbers({2, 0, 0, 0, 0, 0, 0})}},       // fewer rows than told
           {lane, {syncs, numbers({40'000}) + std::string(400'000, '\0')}},
           {lane, {syncs, std::string("\1\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12)}},
           {{allocations, numbers({1, 0, 0, 0, 0, 0, 0, 0, 0, 0})}},          // no lane
           {thread, {allocations, numbers({1, 0, 0, 0, 0, 0, 0, 0, 1, 0})}},  // no such place
           {thread, {allocations, numbers({1, 0, 0, 0, 0, 0, 0, 0, 0, 5})}},  // no such kind
           {{BlockKind::end, numbers({1})}}}) {
    const auto back = read_trace_file(written(blocks));
    ASSERT_FALSE(back) << blocks.back().second.size();
    EXPECT_EQ(back.error().code, base::ErrorCode::corrupt);
    EXPECT_EQ(back.error().message.find('\n'), std::string::npos);
  }
  const auto right = read_trace_file(written({lane, {syncs, numbers({1, 0, 0, 0, 0, 0})}, {end, numbers({1})}}));
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_EQ(right->syncs.size(), 1U);
  EXPECT_TRUE(right->notes.empty());
}

TEST_F(TraceFileTest, sizes_that_a_block_cannot_have_are_not_believed) {
  std::string bytes(kTraceMagic);
  put_u32(bytes, kTraceVersion);
  auto bomb = make_block(BlockKind::strings, std::string(kMostPlainBytes + 1, '\0'));
  const auto back = read_trace_file(write(bytes + bomb, "bomb.rltrace"));
  ASSERT_TRUE(back);
  EXPECT_EQ(fakes::text_of(back->notes.back()), "the file is damaged after 0 events");
  std::string header(1, '\0');
  put_u32(header, 0xFFFFFFFF);
  put_u32(header, 0xFFFFFFFF);
  put_u32(header, 0);
  EXPECT_TRUE(read_trace_file(write(bytes + header, "claim.rltrace")));
}

TEST_F(TraceFileTest, notes_of_version_1_are_text) {
  const auto note = [](std::string_view text) { return numbers({1, text.size()}) + std::string(text); };
  const auto back = read_trace_file(written({{BlockKind::notes, note("events \x1b[31m: 3")},
                                             {BlockKind::notes, note(R"({"no": "message"})")},
                                             {BlockKind::notes, note(fakes::text_of(messages::lacks_durations()))},
                                             {BlockKind::end, numbers({0})}},
                                            1));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(fakes::texts_of(back->notes), (std::vector<std::string>{R"(events \x1b[31m: 3)", R"({"no": "message"})",
                                                                    fakes::text_of(messages::lacks_durations())}));
  EXPECT_TRUE(back->notes[0].is(schema::kLegacy));
  EXPECT_TRUE(back->lacks_durations);
  EXPECT_TRUE(back->lacks_work);
}

TEST_F(TraceFileTest, notes_of_others_are_one_line) {
  const auto text_of_note = [&](const std::string& json) {
    const auto back = read_trace_file(written({{BlockKind::notes, numbers({1, json.size()}) + json}}));
    return back ? fakes::text_of(back->notes.front()) : back.error().message;
  };
  EXPECT_EQ(text_of_note(R"({"code": "trace.unread_tables", "arguments": {"tables": ["a\u001b[0m", "b"]}})"),
            R"(tables with work that are not read: a\x1b[0m, b)");
  EXPECT_EQ(text_of_note(R"({"code": "trace.unread_kinds", "arguments": {"kinds": 3}})"),
            "events of kinds that are not read: 3");
  EXPECT_EQ(text_of_note(R"({"code": "trace.kinds_of_events", "arguments": {"kinds": [{"code": 1}]}})"),
            R"([{"code":1}])");
  EXPECT_EQ(text_of_note(R"({"code": 1})"), R"({"code": 1})");
  const std::string deep(10'000, '[');
  EXPECT_EQ(text_of_note(R"({"code": "x.y", "arguments": {"a": )" + deep).size(), 1004U) << "it is cut";
}

TEST_F(TraceFileTest, a_newer_version_is_named) {
  const auto back = read_trace_file(written({}, kTraceVersion + 1));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, base::ErrorCode::unsupported);
  EXPECT_EQ(back.error().hint, "upgrade Ridgeline");
}

TEST_F(TraceFileTest, long_names_are_cut_between_characters) {
  Trace trace;
  std::string name(kEnoughBytes - 1, 'x');
  (void)trace.strings.id(name + "\xC3\xA4 and more");
  (void)trace.strings.id("short");
  ASSERT_TRUE(write_trace_file(trace, path()));
  const auto back = read_trace_file(path());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->strings.text(1) == name);
  EXPECT_EQ(back->strings.text(2), "short");
}

TEST_F(TraceFileTest, what_has_nothing_to_profile_is_one_line) {
  Trace trace;
  ASSERT_TRUE(write_trace_file(trace, path()));
  const auto imported = import_file(path());
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, base::ErrorCode::unsupported);
}

TEST_F(TraceFileTest, memory_alone_is_something) {
  Trace trace;
  trace.allocations.add({5, 7, 1, 7, 8, 0, trace.thread_lane({}), 0, AllocationKind::allocated});
  ASSERT_TRUE(write_trace_file(trace, path()));
  const auto imported = import_file(path());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->trace->allocations.bytes, (std::vector<std::int64_t>{7}));
  // Files from before there were allocations are read on.
  static_assert(static_cast<int>(BlockKind::end) == 12);
}

TEST_F(TraceFileTest, what_cannot_be_written_is_an_error) {
  EXPECT_EQ(write_trace_file(example(1), path("no/run.rltrace")).error().code, base::ErrorCode::not_found);
  auto full = TraceWriter::create("/dev/full");
  EXPECT_EQ(full ? full->append(example(1)).error().code : full.error().code, base::ErrorCode::io);
}

}  // namespace
}  // namespace ridgeline::trace
