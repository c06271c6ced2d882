// SPDX-License-Identifier: Apache-2.0
// Every class of fault, made to happen on the GPU: the cause is told right, and the next trial runs within 5 s.
#include <signal.h>

#include "device_fixture.hpp"
#include "fakes/onnx_builder.hpp"
#include "fakes/words.hpp"

namespace ridgeline::execute {
namespace {

using schema::TrialPhase;
using schema::TrialStatus;

constexpr double kLongestGapS = 5;
constexpr std::int64_t kMemorySlack = 32 << 20;

class DeviceFaultTest : public DeviceTrialTest {
 protected:
  /// A trial that is well, begun within 5 s of the call.
  schema::TrialOutcome next_trial() {
    const auto begun = std::chrono::steady_clock::now();
    auto outcome = run(spec(convolutions(), {1, 8, 64, 64}));
    const auto passed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    EXPECT_EQ(outcome.status, TrialStatus::ok) << message_of(outcome);
    EXPECT_LT(passed_s - outcome.duration_s, kLongestGapS);
    return outcome;
  }
  static std::int64_t free_before(const schema::TrialOutcome& outcome) {
    if (outcome.measurement && outcome.measurement->gpu)
      return outcome.measurement->gpu->memory_free_before_bytes.value_or(0);
    return 0;
  }
  /// Runs a trial that needs more memory than there is: classified, and the memory is back before the next.
  void expect_out_of_memory(std::int64_t items, const schema::Configuration& configuration) {
    ASSERT_EQ(run(spec(memory_eater(), {8, 1}, configuration)).status, TrialStatus::ok);
    make_executor();  // so that no worker's context is missing from what is free before, as none is after
    const auto before = next_trial();
    const auto outcome = run(spec(memory_eater(), {items, 1}, configuration));
    ASSERT_EQ(outcome.status, TrialStatus::out_of_memory) << message_of(outcome);
    EXPECT_EQ(outcome.failure->requested_bytes, items * kEatenBytesPerItem) << message_of(outcome);
    ASSERT_TRUE(outcome.failure->gpu);
    EXPECT_GT(outcome.failure->gpu->memory_free_before_bytes.value_or(0), 0);
    const auto after = next_trial();
    EXPECT_GE(free_before(after), free_before(before) - kMemorySlack);
    EXPECT_FALSE(std::any_of(after.measurement->flags.begin(), after.measurement->flags.end(),
                             [](const auto& flag) { return flag.code == "gpu_memory_not_released"; }));
  }
  /// Sends a signal to the worker once it measures.
  WorkerOptions disturbed(int number) {
    auto options = worker_options();
    options.heartbeat_timeout_s = 2;
    options.on_progress = [this, number](const JobProgress& progress) {
      if (progress.phase != TrialPhase::measure || std::exchange(disturbed_, true)) return;
      for (const auto worker : children_of(::getpid())) ::kill(worker, number);
    };
    return options;
  }
  schema::TrialSpec long_trial() {
    auto trial = spec(convolutions(), {1, 8, 64, 64});
    trial.plan.min_time_s = 5;
    trial.plan.max_time_s = 10;
    return trial;
  }

  bool disturbed_ = false;
};

TEST_F(DeviceFaultTest, a_batch_too_large_is_out_of_memory_with_the_size_asked_for) {
  expect_out_of_memory(2 * gpu_.memory_bytes / kEatenBytesPerItem, {});
}

TEST_F(DeviceFaultTest, a_limit_too_low_is_out_of_memory_with_the_size_asked_for) {
  expect_out_of_memory(1000, {{"gpu_mem_limit_gb", 0.1}});
}

TEST_F(DeviceFaultTest, a_refused_graph_names_the_node_and_the_override_that_frees_it) {
  // A size that is computed with: it comes from the CPU as long as N is not known, and is copied to the GPU.
  const auto model = fakes::OnnxBuilder()
                         .input("x", {"N", 8})
                         .integers("zero", {0})
                         .node("Shape", {"x"}, {"s"})
                         .node("Gather", {"s", "zero"}, {"n"})
                         .integer("axis", 0)
                         .node("Cast", {"n"}, {"size"})
                         .integer("to", onnx::TensorProto::FLOAT)
                         .node("Relu", {"x"}, {"r"})
                         .node("Mul", {"r", "size"}, {"y"})
                         .output("y", {"N", 8});
  schema::TrialSpec trial = spec(convolutions(), {}, {{"enable_cuda_graph", true}, {"io_binding", "stream"}});
  std::ofstream(trial.workload.location, std::ios::binary) << model.bytes();
  trial.workload.shapes = {{{"x", {4, 8}}}};
  trial.workload.dim_names = {{"x", {"N", ""}}};
  const auto refused = run(trial);
  ASSERT_EQ(refused.status, TrialStatus::unsupported) << message_of(refused);
  EXPECT_NE(message_of(refused).find("Gather_n"), std::string::npos) << message_of(refused);
  ASSERT_TRUE(refused.failure);
  EXPECT_NE(fakes::words().hint(refused.failure->message).find("override_free_dimensions=true"), std::string::npos)
      << fakes::words().hint(refused.failure->message);
  next_trial();
  std::ofstream(trial.workload.location, std::ios::binary) << model.bytes();
  trial.configuration.set("override_free_dimensions", true);
  const auto freed = run(trial);
  EXPECT_EQ(freed.status, TrialStatus::ok) << message_of(freed);
}

TEST_F(DeviceFaultTest, an_illegal_option_is_invalid) {
  const auto outcome = run(spec(convolutions(), {1, 8, 64, 64}, {{"cudnn_conv_algo_search", "FASTEST"}}));
  EXPECT_EQ(outcome.status, TrialStatus::invalid) << message_of(outcome);
  EXPECT_NE(message_of(outcome).find("FASTEST"), std::string::npos) << message_of(outcome);
  next_trial();
}

TEST_F(DeviceFaultTest, a_killed_worker_is_a_crash) {
  make_executor(disturbed(SIGKILL));
  const auto outcome = run(long_trial());
  EXPECT_EQ(outcome.status, TrialStatus::crashed) << message_of(outcome);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->signal, SIGKILL);
  next_trial();
}

TEST_F(DeviceFaultTest, a_worker_that_hangs_is_a_timeout) {
  make_executor(disturbed(SIGSTOP));
  const auto outcome = run(long_trial());
  EXPECT_EQ(outcome.status, TrialStatus::timeout) << message_of(outcome);
  next_trial();
}

}  // namespace
}  // namespace ridgeline::execute
