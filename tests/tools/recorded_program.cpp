// SPDX-License-Identifier: Apache-2.0
// Behaves like a program whose processes `ridgeline profile --` records: writes PID.rltrace and PID.facts to
// RIDGELINE_TRACE_FOLDER, where that is set.
//   rl_recorded_program [--steps N] [--fork] [--cut] [--damage] [--no-trace] [--facts KEY=VALUE]... [--environment]
//                       [--session] [--wait] [--pause] [--counts] [--exit N] [--rerun-exit N] [--signal N]
// --fork: a child records the same. --session: the modules are runs of a session of ONNX Runtime, each with a node.
// --cut: as if killed. --damage: the trace is no trace. --environment: prints the variables that it was given. --wait:
// waits for SIGINT after it recorded. --pause: takes 0.3 s. --counts: where RIDGELINE_TRACE_OPTIONS asks for counters,
// counts launches: in the window one of the two kernels in step 2, and a CUDA graph; in a second run both kernels in
// each step. --rerun-exit: the exit code of a second run.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "trace/file/trace_writer.hpp"

namespace {

using namespace ridgeline;

struct Plan {
  int steps = 3;
  bool forks = false;
  bool is_cut = false;
  bool is_damaged = false;
  bool has_trace = true;
  bool waits = false;
  bool has_session = false;
  bool counts = false;
  int rerun_exit_code = -1;
  bool pauses = false;
  std::vector<std::string> facts;
  int exit_code = 0;
  int signal = 0;
};

void add_range(trace::Trace& trace, trace::RangeKind kind, const std::string& name, std::int64_t start,
               std::int64_t end, trace::LaneId lane) {
  trace.ranges.add(start, end - start, trace.strings.id(name), lane, 0);
  trace.ranges.kind.push_back(kind);
  trace.ranges.sequence.push_back(-1);
  trace.ranges.forward_thread.push_back(0);
}

/// Steps of two modules, each of which launches a kernel and waits for it.
constexpr std::int64_t kStep = 1'000'000;
trace::Trace record(int steps, bool has_session) {
  trace::Trace trace;
  trace.devices.push_back({0, "NVIDIA Test", 64, "9.0", 0});
  const std::int64_t pid = ::getpid();
  const auto thread = trace.thread_lane({pid, pid});
  const auto stream = trace.gpu_lane({pid, 0, 1, 7});
  std::int64_t correlation = 0;
  for (int step = 0; step < steps; ++step) {
    const auto begin = step * kStep;
    add_range(trace, trace::RangeKind::annotation, "ProfilerStep#" + std::to_string(step), begin, begin + kStep - 1000,
              thread);
    for (const auto* const layer : {"Linear_0", "Linear_1"}) {
      const auto at = begin + 10'000 + (layer[7] - '0') * 400'000;
      add_range(trace, trace::RangeKind::python, has_session ? "run of vit.onnx" : std::string("nn.Module: ") + layer,
                at, at + 300'000, thread);
      trace.calls.add(at + 1000, 5000, trace.strings.id("cudaLaunchKernel"), thread, ++correlation);
      trace.kernels.add(at + 20'000, 200'000, trace.strings.id(std::string("gemm_") + layer[7]), stream, correlation);
      trace.kernels.grid.push_back({64, 1, 1});
      trace.kernels.block.push_back({128, 1, 1});
      trace.kernels.registers.push_back(32);
      trace.kernels.shared_bytes.push_back(0);
      trace.kernels.graph_node.push_back(0);
    }
  }
  return trace;
}

/// What ONNX Runtime's profiler writes of those runs, and what the recorder's hooks write with it.
void write_session(const std::string& path, int steps) {
  std::ofstream(path + ".session1") << "model=vit.onnx\nstart_ns=1\ngraph=0\n";
  std::ofstream json(path + ".session1_2026-11-28_10-00-00_123.json");
  const auto event = [&](const char* category, const char* name, std::int64_t start_us, int duration_us) {
    json << R"({"cat":")" << category << R"(","pid":)" << ::getpid() << R"(,"tid":)" << ::getpid() << R"(,"ts":)"
         << start_us << R"(,"dur":)" << duration_us << R"(,"ph":"X","name":")" << name
         << R"(","args":{"op_name":"MatMul","provider":"CUDAExecutionProvider"}})";
  };
  json << "[";
  event("Session", "session_initialization", 0, 1);
  for (std::int64_t step = 0; step < steps; ++step)
    for (const auto at : {step * kStep / 1000 + 10, step * kStep / 1000 + 410}) {
      json << ",\n";
      event("Node", "/encoder/MatMul_kernel_time", at, 100);
      json << ",\n";
      event("Session", "model_run", at, 200);
    }
  json << "]\n";
}

bool has_option(const std::string& option) {
  const auto* options = std::getenv("RIDGELINE_TRACE_OPTIONS");
  return options != nullptr && (std::string(options) + ";").find(";" + option + ";") != std::string::npos;
}

void add_counted(trace::Trace& trace, const std::string& kernel, const std::string& layer, int step, int graph_nodes) {
  const std::int64_t pid = ::getpid();
  auto& rows = trace.counted;
  const auto size = static_cast<std::int64_t>(rows.size());
  rows.add(1'000'000'000 + size, 210'000, trace.strings.id(kernel), trace.gpu_lane({pid, 0, 1, 7}), 0);
  rows.grid.push_back(graph_nodes > 0 ? trace::Dim3{} : trace::Dim3{64, 1, 1});
  rows.block.push_back(graph_nodes > 0 ? trace::Dim3{} : trace::Dim3{128, 1, 1});
  rows.path.push_back(trace.strings.id("2nn.Module: " + layer));
  rows.step.push_back(step);
  rows.graph_nodes.push_back(graph_nodes);
  rows.dram_read_bytes.push_back(20'000'000);
  rows.dram_write_bytes.push_back(10'000'000);
  rows.l2_bytes.push_back(80'000'000);
  rows.tensor_permille.push_back(400);
}

void count(const Plan& plan, trace::Trace& trace) {
  if (has_option("counters=window")) {
    add_counted(trace, "gemm_0", "Linear_0", 2, 0);
    add_counted(trace, "CUDA graph", "Linear_1", 2, 5);
  }
  for (int step = 0; has_option("counters=rerun") && step < plan.steps; ++step) {
    add_counted(trace, "gemm_0", "Linear_0", step, 0);
    add_counted(trace, "gemm_1", "Linear_1", step, 0);
  }
}

void write_files(const Plan& plan) {
  const auto* folder = std::getenv("RIDGELINE_TRACE_FOLDER");
  if (folder == nullptr) return;
  const auto path = std::string(folder) + "/" + std::to_string(::getpid());
  if (plan.is_damaged) {
    std::ofstream(path + ".rltrace") << "no trace";
  } else if (plan.has_trace) {
    auto trace = record(has_option("counters=rerun") ? 0 : plan.steps, plan.has_session);
    if (plan.counts) count(plan, trace);
    auto writer = trace::TraceWriter::create(path + ".rltrace");
    if (!writer || !writer->append(trace) || (!plan.is_cut && !writer->finish())) std::abort();
  }
  if (plan.has_session) write_session(path, plan.steps);
  std::ofstream facts(path + ".facts");
  facts << "pid=" << ::getpid() << "\nname=rl_recorded_program\nstate=recording\n";
  if (!plan.is_cut) facts << "finished=1\n";
  if (plan.counts && (has_option("counters=window") || has_option("counters=rerun"))) facts << "counters=counted\n";
  for (const auto& line : plan.facts) facts << line << "\n";
}

void print_environment() {
  for (const auto* name : {"RIDGELINE_TRACE_FOLDER", "RIDGELINE_TRACE_LIBRARY", "RIDGELINE_TRACE_OPTIONS",
                           "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "PYTHONPATH"}) {
    const auto* value = std::getenv(name);
    std::printf("%s=%s\n", name, value == nullptr ? "(unset)" : value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atoi(argv[++i]) : 0; };
    if (word == "--steps") plan.steps = number();
    if (word == "--fork") plan.forks = true;
    if (word == "--cut") plan.is_cut = true;
    if (word == "--damage") plan.is_damaged = true;
    if (word == "--no-trace") plan.has_trace = false;
    if (word == "--session") plan.has_session = true;
    if (word == "--wait") plan.waits = true;
    if (word == "--pause") plan.pauses = true;
    if (word == "--counts") plan.counts = true;
    if (word == "--rerun-exit") plan.rerun_exit_code = number();
    if (word == "--facts" && i + 1 < argc) plan.facts.emplace_back(argv[++i]);
    if (word == "--environment") print_environment();
    if (word == "--exit") plan.exit_code = number();
    if (word == "--signal") plan.signal = number();
  }
  sigset_t interrupt;
  ::sigemptyset(&interrupt);
  ::sigaddset(&interrupt, SIGINT);
  if (plan.waits) ::sigprocmask(SIG_BLOCK, &interrupt, nullptr);
  std::fflush(stdout);
  if (plan.forks && ::fork() == 0) {
    write_files(plan);
    return 0;
  }
  write_files(plan);
  while (plan.forks && ::wait(nullptr) > 0) {
  }
  if (plan.pauses) ::usleep(300'000);
  if (plan.waits) {
    std::puts("waiting");
    std::fflush(stdout);
    int number = 0;
    ::sigwait(&interrupt, &number);
    std::puts("interrupted");
    std::fflush(stdout);
  }
  if (plan.signal != 0) ::raise(plan.signal);
  return plan.rerun_exit_code >= 0 && has_option("counters=rerun") ? plan.rerun_exit_code : plan.exit_code;
}
