// SPDX-License-Identifier: Apache-2.0
// Whether a session is as fast after others in its process as alone: on an H200 it is 6 to 10 % slower once the process
// has worked on a second stream (benchmarks/results/h200/one_stream.md).
//   cmake --preset bench && cmake --build build/bench --target session_order
//   build/bench/bin/session_order MODEL.onnx [--provider cuda] [--ort FOLDER] [--set KEY=VALUE]... [--times N]
// Each line is a process of its own, all of them N times in turn (default 3); median, 10th and 90th percentile of a
// second of inferences.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/dynamic_library.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "gpu/cuda_driver.hpp"
#include "gpu/multistream_state.hpp"
#include "schema/catalog.hpp"
#include "workload/workload_registry.hpp"

namespace {

using namespace ridgeline;  // a program, not a library
using Session = std::unique_ptr<workload::Workload>;

constexpr double kTimedS = 1;
constexpr int kWarmUps = 100;
constexpr int kFewRuns = 10;

[[noreturn]] void give_up(const std::string& reason) {
  fmt::print(stderr, "session_order: {}\n", reason);
  std::exit(2);
}

template <typename T>
T must(base::Result<T> result) {
  if (!result) give_up(result.error().message);
  return std::move(*result);
}

class Process {
 public:
  Process(const workload::WorkloadKind& kind, schema::TrialSpec spec) : kind_(kind), spec_(std::move(spec)) {}

  /// A session that has run: much of its memory is taken, and its graph captured, in the first inferences.
  [[nodiscard]] Session made(const schema::Configuration& configuration, int runs) const {
    auto spec = spec_;
    spec.configuration = configuration;
    auto session = must(kind_.make(spec));
    if (const auto prepared = session->prepare(); !prepared) give_up(prepared.error().message);
    if (!session->enter_thread(0)) give_up(session->last_error(0).message);
    for (int run = 0; run < runs; ++run) step(*session);
    return session;
  }
  [[nodiscard]] Session made(int runs) const { return made(spec_.configuration, runs); }

  void time(Session& session, std::string_view what) const {
    for (int run = 0; run < kWarmUps; ++run) step(*session);
    const auto& clock = base::system_clock();
    std::vector<double> us;
    const auto until = clock.now() + base::from_seconds(kTimedS);
    for (auto now = clock.now(); now < until;) {
      step(*session);
      const auto after = clock.now();
      us.push_back(base::to_seconds(after - now) * 1e6);
      now = after;
    }
    std::sort(us.begin(), us.end());
    const auto at = [&](double share) {
      return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
    };
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} |\n", what, at(0.5), at(0.1), at(0.9));
  }

 private:
  static void step(workload::Workload& session) {
    if (!session.step(0)) give_up(session.last_error(0).message);
  }

  const workload::WorkloadKind& kind_;
  schema::TrialSpec spec_;
};

/// A context of our own beside the runtime's use of it, to do single things that sessions do.
struct Cuda {
  std::shared_ptr<const gpu::CudaDriver> driver = must(gpu::CudaDriver::load());
  gpu::PrimaryContext context = must(gpu::PrimaryContext::retain(driver, 0));
  Cuda() {
    if (const auto current = context.make_current(); !current) give_up(current.error().message);
  }
  [[nodiscard]] std::vector<gpu::CudaStream> streams(int count) const {
    std::vector<gpu::CudaStream> made;
    for (int at = 0; at < count; ++at) made.push_back(must(gpu::CudaStream::make(driver)));
    return made;
  }
};

/// Ends the GPU's context and all that is in it, as if the process were new: with ONNX Runtime in it that may fail.
void reset_context() {
  const auto driver = must(base::DynamicLibrary::open({"libcuda.so.1"}));
  const auto reset = reinterpret_cast<int (*)(int)>(driver.symbol("cuDevicePrimaryCtxReset_v2"));
  if (reset == nullptr) give_up("the driver has no cuDevicePrimaryCtxReset_v2");
  if (const int status = reset(0); status != gpu::kCudaSuccess) give_up(fmt::format("no reset: CUDA error {}", status));
}

struct Scenario {
  const char* name;
  bool needs_gpu;
  std::function<void(const Process&)> run;
};

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      {"alone", false,
       [](const Process& process) {
         auto session = process.made(kFewRuns);
         process.time(session, "alone");
       }},
      {"after its like", false,
       [](const Process& process) {
         process.made(kFewRuns).reset();
         auto session = process.made(kFewRuns);
         process.time(session, "after one of its kind, which is gone");
       }},
      {"after five", false,
       [](const Process& process) {
         for (int at = 0; at < 5; ++at) process.made(kFewRuns).reset();
         auto session = process.made(kFewRuns);
         process.time(session, "after five of its kind, which are gone");
       }},
      {"after one that never ran", false,
       [](const Process& process) {
         process.made(0).reset();
         auto session = process.made(kFewRuns);
         process.time(session, "after one of its kind that never ran");
       }},
      {"after the defaults", false,
       [](const Process& process) {
         process.made({}, kFewRuns).reset();
         auto session = process.made(kFewRuns);
         process.time(session, "after one with the runtime's defaults, which is gone");
       }},
      {"beside its like", false,
       [](const Process& process) {
         auto first = process.made(kFewRuns);
         process.time(first, "the first of two, before the second is made");
         auto second = process.made(kFewRuns);
         process.time(first, "the first of two, the second idle");
         process.time(second, "the second of two, the first idle");
         second.reset();
         process.time(first, "the first of two, the second gone");
       }},
      {"after a reset", true,
       [](const Process& process) {
         process.made(kFewRuns).reset();
         reset_context();
         auto session = process.made(kFewRuns);
         process.time(session, "after one of its kind and a new context");
       }},
      {"beside idle streams", true,
       [](const Process& process) {
         const Cuda cuda;
         const auto streams = cuda.streams(16);
         auto session = process.made(kFewRuns);
         process.time(session, "beside 16 idle CUDA streams");
       }},
      {"other streams work", true,
       [](const Process& process) {
         const Cuda cuda;
         auto session = process.made(kFewRuns);
         process.time(session, "alone, then");
         if (const auto done = gpu::enter_multistream_state(cuda.driver); !done) give_up(done.error().message);
         process.time(session, "after 64 kernels that do nothing, on two other streams, which are gone");
       }},
      {"after other streams' work", true,
       [](const Process& process) {
         const Cuda cuda;
         if (const auto done = gpu::enter_multistream_state(cuda.driver); !done) give_up(done.error().message);
         auto session = process.made(kFewRuns);
         process.time(session, "made after such kernels");
         process.made(kFewRuns).reset();
         process.time(session, "made after such kernels, another one made and gone");
       }},
  };
  return all;
}

int run_all(const std::vector<std::string>& arguments, int times, bool on_gpu) {
  fmt::print("| session | median, µs | 10 % | 90 % |\n|---|---:|---:|---:|\n");
  int failed = 0;
  for (int time = 0; time < times; ++time)
    for (const auto& scenario : scenarios()) {
      if (scenario.needs_gpu && !on_gpu) continue;
      base::SubprocessOptions options;
      options.argv = {"/proc/self/exe"};
      options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
      options.argv.insert(options.argv.end(), {"--scenario", scenario.name});
      options.capture_output = false;
      std::fflush(stdout);
      const auto status = must(base::Subprocess::spawn(options)).wait();
      if (status.exit_code == 0) continue;
      ++failed;
      fmt::print("| {} | failed | | |\n", scenario.name);
    }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string model;
  std::string scenario;
  std::string times = "3";
  schema::TrialSpec spec;
  spec.provider = "cpu";
  spec.isolated = true;  // what makes a process one of several streams is done here, if at all
  std::string ort;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const auto& word = arguments[at];
    std::string setting;
    std::string* const text = word == "--provider"   ? &spec.provider
                              : word == "--ort"      ? &ort
                              : word == "--set"      ? &setting
                              : word == "--times"    ? &times
                              : word == "--scenario" ? &scenario
                                                     : nullptr;
    if (text == nullptr) {
      if (!model.empty()) give_up(fmt::format("unknown argument \"{}\"", word));
      model = word;
      continue;
    }
    if (at + 1 == arguments.size()) give_up(fmt::format("{}: its value is missing", word));
    *text = arguments[++at];
    if (text != &setting) continue;
    const auto read = must(schema::parse_setting(setting));
    spec.configuration.set(read.first, read.second);
  }
  if (model.empty()) give_up("expected MODEL.onnx [--provider cuda] [--ort FOLDER] [--set KEY=VALUE]... [--times N]");
  const auto count = must(base::parse_integer(times, "--times"));
  if (scenario.empty()) return run_all(arguments, static_cast<int>(count), spec.provider != "cpu");

  const auto registry = workload::make_default_registry();
  const auto* kind = must(registry.find("onnx"));
  spec.workload.kind = "onnx";
  spec.workload.location = model;
  spec.workload.shapes = must(kind->inspect({spec.workload, ort})).shapes;
  spec.runtime.library_path = ort;
  const Process process(*kind, spec);
  const auto& all = scenarios();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& candidate) { return candidate.name == scenario; });
  if (found == all.end()) give_up(fmt::format("--scenario {}: there is none of that name", scenario));
  found->run(process);
  return 0;
}
