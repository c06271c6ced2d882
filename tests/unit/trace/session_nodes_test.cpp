// SPDX-License-Identifier: Apache-2.0
// Recordings of programs with sessions of ONNX Runtime: the profiles of these give the recorded kernels their nodes.
#include "trace/record/session_nodes.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "fakes/temporary_folder.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/file/trace_writer.hpp"
#include "trace/messages.hpp"
#include "trace/record/recording.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kZero = 7'000'000'500;  // of the profile, on the recorder's clock
constexpr std::int64_t kRun = 1'000'000;       // ns from one run to the next

class SessionNodesTest : public ::testing::Test, public TraceBuilder {
 protected:
  /// A run of process 1, thread 1: begins 10 us before its nodes and ends 10 us after them.
  void run(int number, std::string_view model = "vit.onnx") {
    const auto begin = kZero + number * kRun;
    range(RangeKind::python, "run of " + std::string(model), begin, begin + 120'000);
  }
  /// Launches a kernel `after` ns from the begin of the first node of that run.
  void launch_in(int number, std::int64_t after, std::string_view kernel) {
    const auto at = kZero + number * kRun + 10'000 + after;
    launch(kernel, at, at + 5000, at + 15'000);
  }
  /// Two nodes of 50 us in each of the runs, and the run around them. Times are whole microseconds.
  void profile(int session, const std::vector<int>& runs, const std::string& facts = "",
               const std::string& model = "vit.onnx") {
    std::ofstream(folder_ / fmt::format("1.session{}", session))
        << fmt::format("model={}\nstart_ns={}\ngraph=0\n{}", model, kZero, facts);
    std::ofstream json(folder_ / fmt::format("1.session{}_2026-11-28_10-00-00_123.json", session));
    if (runs.empty()) return;
    json << "[\n" << event("Session", "session_initialization", 0, 100);
    for (const auto number : runs) {
      const auto begin = number * kRun / 1000 + 10;
      json << ",\n" << event("Node", "/encoder/MatMul_kernel_time", begin, 50, "MatMul");
      json << ",\n" << event("Node", "/encoder/act/Relu_kernel_time", begin + 50, 50, "Relu");
      json << ",\n" << event("Session", "model_run", begin - 2, 104);
    }
    json << "]\n";
  }
  void damage(int session) {
    std::ofstream(folder_ / fmt::format("1.session{}_2026-11-28_10-00-00_123.json", session)) << "no profile";
  }
  Trace read() {
    auto writer = TraceWriter::create((folder_ / "1.rltrace").string());
    EXPECT_TRUE(writer && writer->append(trace) && writer->finish());
    std::ofstream(folder_ / "1.facts") << "pid=1\nname=python app.py\nstate=recording\nfinished=1\n";
    auto recording = read_recording(folder_.path());
    EXPECT_TRUE(recording);
    return recording ? std::move(recording->trace) : Trace();
  }

  static bool has(const Trace& trace, const schema::Message& note) {
    return std::find(trace.notes.begin(), trace.notes.end(), note) != trace.notes.end();
  }
  static const schema::ProfileModule* row(const schema::ProfileTables& tables, std::string_view path) {
    const auto found =
        std::find_if(tables.modules.begin(), tables.modules.end(), [&](const auto& one) { return one.path == path; });
    return found == tables.modules.end() ? nullptr : &*found;
  }
  static std::vector<std::string> paths_of_kernels(const Trace& trace) {
    const AnalysedTrace analysed(trace);
    std::vector<std::string> out;
    for (const auto at : analysed.kernels.row) out.push_back(path_of(analysed.attribution, at));
    return out;
  }

 private:
  static std::string event(const char* category, const char* name, std::int64_t start_us, std::int64_t duration_us,
                           const char* operation = "") {
    return fmt::format(
        R"({{"cat":"{}","pid":1,"tid":1,"dur":{},"ts":{},"ph":"X","name":"{}","args":{{"op_name":"{}","provider":"CUDAExecutionProvider"}}}})",
        category, duration_us, start_us, name, operation);
  }
  fakes::TemporaryFolder folder_;
};

TEST_F(SessionNodesTest, kernels_belong_to_the_node_that_launched_them) {
  for (int number = 1; number <= 3; ++number) {
    run(number);
    launch_in(number, 5'000, "gemm");
    launch_in(number, 60'000, "relu");
    launch_in(number, 105'000, "copy_of_outputs");
  }
  profile(1, {1, 2, 3}, "set_by_ns=20\nended=1\n");
  const auto merged = read();
  EXPECT_EQ(merged.nodes.size(), 6U);
  const auto tables = tables_of(AnalysedTrace(merged));
  const auto* matmul = row(tables, "run of vit.onnx/encoder/MatMul");
  const auto* relu = row(tables, "run of vit.onnx/encoder/act/Relu");
  const auto* whole = row(tables, "run of vit.onnx");
  ASSERT_TRUE(matmul != nullptr && relu != nullptr && whole != nullptr);
  EXPECT_EQ(matmul->kind, schema::ModuleKind::node);
  EXPECT_EQ(matmul->kernels, 3);
  EXPECT_EQ(matmul->gpu_total_ns, 30'000);
  EXPECT_EQ(matmul->calls, 3);
  EXPECT_EQ(relu->kernels, 3);
  EXPECT_EQ(whole->kernels, 9);
  EXPECT_EQ(whole->gpu_self_ns, 30'000) << "what a run launches outside of its nodes";
  EXPECT_EQ(whole->calls, 3);
  EXPECT_EQ(whole->host_total_ns, 3 * 120'000);
  EXPECT_EQ(whole->host_self_ns, 3 * 20'000);
  EXPECT_EQ(tables.steps.size(), 3U);
  EXPECT_TRUE(has(merged, messages::node_launches({.on_gpu = true, .kernels = 9, .unknown = {}})));
}

TEST_F(SessionNodesTest, launches_of_other_threads_and_at_other_times_are_of_no_node) {
  run(1);
  profile(1, {1});
  const auto inside = kZero + kRun + 15'000;
  launch("other_thread", inside, inside + 5000, inside + 9000, 2);
  launch("before", kZero + 1000, kZero + 5000, kZero + 9000);
  const auto paths = paths_of_kernels(read());
  EXPECT_EQ(paths, (std::vector<std::string>{"(unattributed)", "(unattributed)"}));
}

TEST_F(SessionNodesTest, annotations_around_runs_keep_their_places) {
  annotation("detect", kZero + kRun - 5000, kZero + kRun + 200'000);
  run(1);
  launch_in(1, 5'000, "gemm");
  profile(1, {1});
  EXPECT_EQ(paths_of_kernels(read()), std::vector<std::string>{"detect/run of vit.onnx/encoder/MatMul"});
}

TEST_F(SessionNodesTest, nodes_of_runs_that_are_not_recorded_are_left_out) {
  run(2);
  profile(1, {1, 2, 3});
  const auto merged = read();
  EXPECT_EQ(merged.nodes.size(), 2U);
  EXPECT_EQ(merged.ranges.size(), 1U) << "ONNX Runtime's own";
}

TEST_F(SessionNodesTest, sessions_of_two_models_have_places_of_their_own) {
  run(1);
  launch_in(1, 5'000, "gemm");
  run(2, "text.onnx");
  launch_in(2, 5'000, "gemm");
  profile(1, {1});
  profile(2, {2}, "", "text.onnx");
  EXPECT_EQ(paths_of_kernels(read()),
            (std::vector<std::string>{"run of vit.onnx/encoder/MatMul", "run of text.onnx/encoder/MatMul"}));
}

TEST_F(SessionNodesTest, runs_without_nodes_are_noted) {
  for (int number = 1; number <= 4; ++number) run(number);
  launch_in(4, 5'000, "gemm");
  profile(1, {1, 2});
  const auto merged = read();
  EXPECT_TRUE(has(merged, messages::session_runs({.model = "vit.onnx", .count = 2, .all = 4, .graph = false})));
  EXPECT_EQ(paths_of_kernels(merged), std::vector<std::string>{"run of vit.onnx"});
}

TEST_F(SessionNodesTest, replays_of_a_graph_belong_to_the_run) {
  for (int number = 1; number <= 2; ++number) run(number);
  profile(1, {1}, "graph=1\n");
  const auto at = kZero + 2 * kRun + 20'000;
  call("cudaGraphLaunch", at, at + 3000, 900);
  kernel("gemm", at + 5000, at + 9000, 900);
  trace.kernels.graph_node.back() = 77;
  trace.graph_nodes.push_back({1, 77, trace.strings.id("2run of vit.onnx")});
  const auto merged = read();
  EXPECT_TRUE(has(merged, messages::session_runs({.model = "vit.onnx", .count = 1, .all = 2, .graph = true})));
  EXPECT_EQ(paths_of_kernels(merged), std::vector<std::string>{"run of vit.onnx"});
}

TEST_F(SessionNodesTest, replays_belong_to_the_nodes_that_ran_as_the_graph_was_captured) {
  run(2);
  profile(1, {1, 2}, "graph=1\n");
  const auto capture = kZero + kRun + 10'000;  // in a run that was not recorded
  const auto captured = [&](std::uint64_t node, std::int64_t at, int thread) {
    trace.graph_nodes.push_back({1, node, trace.strings.id(fmt::format("2run of vit.onnx\nt{} {}", at, thread))});
  };
  captured(71, capture + 20'000, 1);
  captured(72, capture + 50'500, 1);
  captured(73, capture + 110'000, 1);  // after the nodes
  captured(74, capture + 20'000, 2);   // on another thread
  const auto at = kZero + 2 * kRun + 20'000;
  call("cudaGraphLaunch", at, at + 3000, 900);
  for (const std::uint64_t node : {71, 72, 73, 74}) {
    kernel("gemm", at + 5000 + static_cast<std::int64_t>(node) * 1000,
           at + 5500 + static_cast<std::int64_t>(node) * 1000, 900);
    trace.kernels.graph_node.back() = node;
  }
  EXPECT_EQ(paths_of_kernels(read()),
            (std::vector<std::string>{"run of vit.onnx/encoder/MatMul", "run of vit.onnx/encoder/act/Relu",
                                      "run of vit.onnx", "run of vit.onnx"}));
}

TEST_F(SessionNodesTest, says_why_a_session_has_no_nodes) {
  using enum messages::SessionWithoutNodesReason;
  run(1);
  profile(1, {});  // as of a process that was killed
  profile(2, {1}, "set_by_ns=3600000000000\n");
  profile(3, {1}, "why=cupti\n");
  profile(4, {1}, "", "of another program.onnx");
  const auto merged = read();
  EXPECT_EQ(merged.nodes.size(), 0U);
  for (const auto reason : {killed, clock, own_cupti})
    EXPECT_TRUE(has(merged, messages::session_without_nodes({.model = "vit.onnx", .reason = reason})));
  EXPECT_EQ(merged.notes.size(), 3U);
}

TEST_F(SessionNodesTest, a_damaged_profile_costs_its_nodes_alone) {
  run(1);
  launch_in(1, 5'000, "gemm");
  profile(1, {1});
  damage(1);
  const auto merged = read();
  EXPECT_EQ(merged.kernels.size(), 1U);
  ASSERT_EQ(merged.notes.size(), 1U);
  EXPECT_TRUE(merged.notes.front().is("trace.session_unreadable"));
}

TEST_F(SessionNodesTest, nodes_of_the_executors_threads_belong_to_the_run_of_that_time) {
  run(1);
  auto& nodes = trace.nodes;
  const auto at = kZero + kRun + 30'000;
  node("/head/Add", "Add", at, at + 20'000);
  nodes.lane.back() = trace.thread_lane({1, 5});
  const auto tables = tables_of(AnalysedTrace(trace));
  ASSERT_NE(row(tables, "run of vit.onnx/head/Add"), nullptr);
  EXPECT_EQ(row(tables, "run of vit.onnx")->host_self_ns, 120'000) << "another thread's time is not the run's own";
}

TEST_F(SessionNodesTest, times_that_the_profile_rounded_down_still_find_their_node) {
  node("/a", "Relu", 10'000, 20'000);
  node("/b", "Relu", 30'000, 40'000);
  call("cudaLaunchKernel", 21'500, 22'000, 1);  // the node ended at 21.9 us
  call("cudaLaunchKernel", 25'000, 26'000, 2);
  call("cudaLaunchKernel", 31'000, 32'000, 3);
  const AnalysedTrace analysed(trace);
  EXPECT_EQ(analysed.attribution.node_of_call, (std::vector<Place>{0, kNowhere, 1}));
}

}  // namespace
}  // namespace ridgeline::trace
