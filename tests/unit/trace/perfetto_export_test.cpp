// SPDX-License-Identifier: Apache-2.0
// Every rule of the format is checked by scripts/test_perfetto.sh with Perfetto's own classes.
#include "trace/export/perfetto_export.hpp"

#include <protozero/pbf_reader.hpp>

#include "base/file.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

class PerfettoExportTest : public TraceFilesTest {
 protected:
  struct Written {
    std::map<int, int> types;  ///< TrackEvent.Type
    std::vector<std::string> tracks;
    int begun_flows = 0;
    int ended_flows = 0;
    std::vector<std::int64_t> counted;
  };

  Written written() const {
    const auto path = (folder_ / "out.perfetto-trace").string();
    const auto done = write_perfetto(trace_, path);
    EXPECT_TRUE(done);
    const auto bytes = base::read_file(path);
    EXPECT_TRUE(bytes);
    Written out;
    for (protozero::pbf_reader file(*bytes); file.next(1);) {
      for (auto packet = file.get_message(); packet.next();) {
        if (packet.tag() == 11) {
          for (auto event = packet.get_message(); event.next();) {
            if (event.tag() == 9)
              ++out.types[event.get_enum()];
            else if (event.tag() == 30)
              out.counted.push_back(event.get_int64());
            else {
              out.begun_flows += event.tag() == 47;
              out.ended_flows += event.tag() == 48;
              event.skip();
            }
          }
        } else if (packet.tag() == 60) {
          for (auto track = packet.get_message(); track.next();)
            if (track.tag() == 2)
              out.tracks.push_back(track.get_string());
            else
              track.skip();
        } else {
          packet.skip();
        }
      }
    }
    return out;
  }

  void kernel(std::int64_t start, std::int64_t duration, const GpuLane& lane, std::int64_t correlation = 0) {
    auto& kernels = trace_.kernels;
    kernels.add(start, duration, trace_.strings.id("gemm"), trace_.gpu_lane(lane), correlation);
    kernels.grid.push_back({8, 1, 1});
    kernels.block.push_back({128, 1, 1});
    kernels.registers.push_back(32);
    kernels.shared_bytes.push_back(0);
    kernels.graph_node.push_back(0);
  }
  void call(std::int64_t start, std::int64_t duration, std::int64_t correlation) {
    trace_.calls.add(start, duration, trace_.strings.id("cudaLaunchKernel"), trace_.thread_lane({5, 6}), correlation);
  }
  Trace trace_;
};

TEST_F(PerfettoExportTest, no_slice_is_lost_where_kernels_of_a_stream_overlap) {
  trace_.devices.push_back({.id = 0, .name = "NVIDIA H100"});
  kernel(0, 10, {0, 0, 1, 7});
  kernel(5, 10, {0, 0, 1, 7});
  kernel(8, 10, {0, 0, 1, 7});
  kernel(8, 0, {0, 0, 1, 20});
  kernel(-3, 1, {0, 1, 1, 7});
  trace_.syncs.add(1, 2, trace_.strings.id("Context Sync"), trace_.gpu_lane({0, 0, 1, -1}), 0);
  const auto out = written();
  EXPECT_EQ(out.types, (std::map<int, int>{{1, 6}, {2, 6}}));
  EXPECT_EQ(out.tracks, (std::vector<std::string>{"GPU 0 (NVIDIA H100)", "syncs", "stream 7", "stream 7 (2)",
                                                  "stream 7 (3)", "stream 20", "GPU 1", "stream 7"}));
}

TEST_F(PerfettoExportTest, arrows_lead_from_a_call_to_all_that_it_launched) {
  call(0, 5, 1);
  call(3, 5, 2);
  call(100, 5, 3);
  for (const auto correlation : {1, 1, 2, 4, 3}) kernel(10, 5, {5, 0, 1, 7}, correlation);
  const auto out = written();
  EXPECT_EQ(out.begun_flows, 3) << "none leads back to before its call";
  EXPECT_EQ(out.ended_flows, 3);
  EXPECT_EQ(out.types, (std::map<int, int>{{1, 8}, {2, 8}}));
  EXPECT_EQ(out.tracks, (std::vector<std::string>{"CUDA calls", "GPU 0", "stream 7"}))
      << "the viewer names processes and threads; the second call crosses the first";
}

TEST_F(PerfettoExportTest, memory_is_counters_of_what_changes) {
  const auto lane = trace_.thread_lane({5, 6});
  using enum AllocationKind;
  trace_.allocations.add({30, 20, 2, 120, 512, 1, lane, 0, allocated});
  trace_.allocations.add({-10, 100, 1, 100, 512, 1, lane, 0, held});
  trace_.allocations.add({-10, 512, 1, 100, 512, 1, lane, 0, reserved});
  trace_.allocations.add({40, -20, 2, 100, 512, 1, lane, 0, freed});
  trace_.allocations.add({40, 9, 9, 9, 0, -1, lane, 0, allocated});
  const auto out = written();
  EXPECT_EQ(out.types, (std::map<int, int>{{4, 4}}));
  EXPECT_EQ(out.tracks, (std::vector<std::string>{"GPU 1 allocated memory", "GPU 1 reserved memory"}));
  EXPECT_EQ(out.counted, (std::vector<std::int64_t>{100, 120, 100, 512}));
}

TEST_F(PerfettoExportTest, an_empty_trace_is_a_file) { EXPECT_TRUE(written().types.empty()); }

TEST_F(PerfettoExportTest, what_cannot_be_written_is_an_error_with_its_path) {
  const auto done = write_perfetto(trace_, (folder_ / "no" / "x.perfetto-trace").string());
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("/no"), std::string::npos);
  EXPECT_FALSE(done.error().hint.empty());
}

}  // namespace
}  // namespace ridgeline::trace
