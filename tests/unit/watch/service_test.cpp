// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_executor.hpp"
#include "fakes/fake_nvml.hpp"
#include "fakes/fake_service.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"
#include "watch/gpu_sampler.hpp"
#include "watch/latency_file.hpp"
#include "watch/latency_source.hpp"
#include "watch/worker_probe.hpp"

namespace ridgeline::watch {
namespace {

/// What the workers of a test have in common.
struct Machine {
  double cost_ns = 4e6;
  std::optional<schema::TrialStatus> failure;
  std::string model_sha256 = std::string(64, 'a');
  std::string library_path;
  std::string version = "1.29.0";
  int workers = 0;
  int inspections = 0;
  bool kept_session = false;  ///< asked for by the last trial
  std::vector<schema::TrialSpec> specs;
};

class Worker final : public fakes::TypedExecutor {
 public:
  explicit Worker(Machine& machine) : machine_(machine), version_(machine.version) { ++machine_.workers; }
  base::Result<schema::RuntimeIdentity> probe(const std::string&, const std::string&) override {
    schema::RuntimeIdentity identity;
    identity.name = "onnxruntime";
    identity.version = version_;  // of what it loaded when it was started
    identity.library_path = machine_.library_path;
    return identity;
  }
  base::Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) override {
    ++machine_.inspections;
    if (machine_.model_sha256.empty())
      return base::fail(base::ErrorCode::not_found, "model {}: no such file", request.workload.location);
    schema::ModelDescription model;
    model.sha256 = machine_.model_sha256;
    return model;
  }
  base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec,
                                               const execute::TrialOptions& trial) override {
    machine_.kept_session = trial.keep_session;
    machine_.specs.push_back(spec);
    schema::TrialOutcome outcome;
    if (machine_.failure) {
      outcome.status = *machine_.failure;
      outcome.failure = schema::Failure{};
      outcome.failure->phase = schema::TrialPhase::create_session;
      outcome.failure->message = fakes::legacy("no memory for the arena");
      return outcome;
    }
    outcome.measurement.emplace().latency_ns.assign(200, machine_.cost_ns);
    return outcome;
  }

 private:
  Machine& machine_;
  std::string version_;
};

class WorkerProbeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    machine_.library_path = (folder_ / "libonnxruntime.so").string();
    write("libonnxruntime.so", "one");
    write("model.onnx", "model");
    write("config.yaml", "onnxruntime:\n  intra_op_num_threads: 4\n");
    baseline_.run.workload.kind = "onnx";
    baseline_.run.workload.location = (folder_ / "model.onnx").string();
    baseline_.run.workload.shapes = baseline_.state.shapes;
    baseline_.spec.configuration.set("batch_size", 2);
    environment_ = baseline_.state.environment;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::trunc) << text;
  }
  ServiceInspector inspector() {
    ServiceInspector::Options options;
    options.workload = baseline_.run.workload;
    options.device = baseline_.spec.device;
    options.config = folder_ / "config.yaml";
    options.recommended = baseline_.spec.configuration;
    options.make_executor = [this] { return std::make_unique<Worker>(machine_); };
    options.environment = [this] { return environment_; };
    return ServiceInspector(std::move(options));
  }
  WorkerProbe& probe() {
    if (!probe_) {
      WorkerProbe::Options options;
      options.baseline = baseline_;
      options.probe_time_s = 0.5;
      probe_.emplace(std::move(options), inspector(), GpuSampler("", clock_));
    }
    return *probe_;
  }
  Observation look() {
    auto seen = probe().look();
    EXPECT_TRUE(seen) << seen.error().message;
    return seen ? std::move(*seen) : Observation{};
  }

  fakes::TemporaryFolder folder_;
  fakes::FakeClock clock_;
  Machine machine_;
  Baseline baseline_ = fakes::fake_baseline();
  schema::Environment environment_;
  std::optional<WorkerProbe> probe_;
};

TEST_F(WorkerProbeTest, times_the_files_settings_briefly_in_a_worker_that_stays) {
  for (int i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(look().figure->median_ns, 4e6);
  EXPECT_EQ(machine_.workers, 1);
  EXPECT_EQ(machine_.inspections, 1);
  const auto& spec = machine_.specs.back();
  EXPECT_EQ(spec.configuration, (schema::Configuration{{"batch_size", 2}, {"intra_op_num_threads", 4}}));
  EXPECT_DOUBLE_EQ(spec.plan.max_time_s, 0.5);
  EXPECT_LE(spec.plan.warmup_max_s, 0.5);
  EXPECT_TRUE(machine_.kept_session);
  write("config.yaml", "onnxruntime:\n  intra_op_num_threads: 1\n");
  const auto changed = look();
  EXPECT_EQ(machine_.specs.back().configuration.get_or("intra_op_num_threads", 0), schema::Value(1));
  EXPECT_EQ(changed.state.configuration, machine_.specs.back().configuration);
}

TEST_F(WorkerProbeTest, holds_nothing_between_probes_when_asked_to) {
  WorkerProbe::Options options;
  options.baseline = baseline_;
  options.keep_worker = false;
  WorkerProbe probe(std::move(options), inspector(), GpuSampler("", clock_));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(probe.look());
  EXPECT_EQ(machine_.workers, 2);
  EXPECT_FALSE(machine_.kept_session);
}

TEST_F(WorkerProbeTest, a_library_replaced_on_disk_is_loaded_by_a_fresh_worker) {
  EXPECT_EQ(look().state.runtime.version, "1.29.0");
  machine_.version = "1.30.0";
  EXPECT_EQ(look().state.runtime.version, "1.29.0") << "the living worker has the old one";
  write("libonnxruntime.so", "another");
  EXPECT_EQ(look().state.runtime.version, "1.30.0");
  EXPECT_EQ(machine_.workers, 2);
}

TEST_F(WorkerProbeTest, a_model_file_that_changed_is_read_again) {
  look();
  machine_.model_sha256 = std::string(64, 'b');
  write("model.onnx", "another model");
  EXPECT_EQ(look().state.model_sha256, machine_.model_sha256);
  machine_.model_sha256 = std::string(64, 'c');
  auto state = look().state;
  EXPECT_EQ(state.model_sha256[0], 'b') << "the file's stamp did not change";
  probe().look_closer(state);
  EXPECT_EQ(state.model_sha256[0], 'c');
}

TEST_F(WorkerProbeTest, what_is_wrong_with_the_service_is_a_problem_and_no_error) {
  machine_.failure = schema::TrialStatus::out_of_memory;
  EXPECT_EQ(fakes::text_of(look().problem), "out_of_memory in create_session: no memory for the arena");
  machine_.failure.reset();
  environment_.gpus.clear();
  environment_.gpu_note = fakes::legacy("GPU is lost");
  EXPECT_NE(fakes::words().line(look().problem).find("GPU GPU-1 does not answer any more: GPU is lost"),
            std::string::npos);
  environment_ = baseline_.state.environment;
  std::filesystem::remove(folder_ / "config.yaml");
  EXPECT_NE(fakes::words().line(look().problem).find("config.yaml"), std::string::npos);
  write("config.yaml", "onnxruntime: [");
  EXPECT_NE(fakes::words().line(look().problem).find("config.yaml"), std::string::npos);
  write("config.yaml", "onnxruntime:\n  intra_op_num_threads: 4\n");
  machine_.model_sha256.clear();
  write("model.onnx", "");
  EXPECT_NE(fakes::words().line(look().problem).find("no such file"), std::string::npos);
  machine_.model_sha256 = "d";
  EXPECT_TRUE(look().problem.empty());
}

TEST_F(WorkerProbeTest, lets_go_of_its_worker_when_told_to) {
  look();
  probe().reset();
  look();
  EXPECT_EQ(machine_.workers, 2);
  auto next = fakes::fake_baseline("later/1");
  next.run.workload.shapes = baseline_.run.workload.shapes;
  probe().set_baseline(next);
  look();
  EXPECT_EQ(machine_.specs.back().workload.location, baseline_.run.workload.location) << "--model stays";
}

TEST_F(WorkerProbeTest, latencies_of_the_service_are_judged_without_running_anything) {
  write("latency.log", "");
  auto file = LatencyFile::open(folder_ / "latency.log", nullptr);
  ASSERT_TRUE(file);
  LatencySource source(std::make_unique<LatencyFile>(std::move(*file)), inspector(), GpuSampler("", clock_));
  const auto append = [&](int count, const char* line) {
    std::ofstream out(folder_ / "latency.log", std::ios::app);
    for (int i = 0; i < count; ++i) out << line << '\n';
  };
  append(15, "5.5");
  EXPECT_FALSE(source.look()->figure) << "too few";
  append(15, "5.5");
  append(2, "GET /");
  const auto seen = source.look();
  ASSERT_TRUE(seen->figure);
  EXPECT_EQ(seen->figure->count, 30);
  EXPECT_DOUBLE_EQ(seen->figure->median_ns, 5.5e6);
  EXPECT_NE(seen->note.find("2 lines were no latency, the first \"GET /\""), std::string::npos) << seen->note;
  EXPECT_TRUE(machine_.specs.empty());
  std::filesystem::remove(folder_ / "config.yaml");
  append(30, R"({"latency_ms": 6, "shapes": {"x": [4, 3, 224, 224]}})");
  const auto again = source.look();
  ASSERT_TRUE(again->figure) << "the service goes on without its file of settings";
  EXPECT_NE(again->note.find("config.yaml"), std::string::npos);
  EXPECT_DOUBLE_EQ(again->state.shape_shares.at("x:4x3x224x224"), 1);
  std::ofstream(folder_ / "latency.log", std::ios::trunc) << "6\nGET /\n";
  append(30, "6");
  const auto truncated = source.look()->note;
  for (const auto* part : {"config.yaml", "may be missing", "1 line was no latency"})
    EXPECT_NE(truncated.find(part), std::string::npos) << truncated;
}

TEST(GpuSampler, tells_throttle_time_processes_and_how_busy_a_gpu_is) {
  fakes::FakeNvml nvml(RL_TEST_FAKE_NVML);
  fakes::FakeClock clock;
  GpuSampler sampler("GPU-fake-0", clock, {RL_TEST_FAKE_NVML});
  const auto first = sampler.sample();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->sm_clock_mhz, 1980);
  EXPECT_TRUE(first->throttle_ns.empty()) << "nothing to count from yet";
  nvml.set(kFakeThermalViolation, 300'000'000);
  nvml.set(kFakeOtherPid, 4711);
  clock.advance(std::chrono::seconds(1));
  const auto second = sampler.sample();
  ASSERT_TRUE(second);
  EXPECT_DOUBLE_EQ(second->throttle_ns.at("thermal"), 3e8);
  EXPECT_DOUBLE_EQ(second->timed_to_s, 1);
  ASSERT_EQ(second->neighbours_before.size(), 1U);
  EXPECT_EQ(second->neighbours_before[0].pid, 4711);
  EXPECT_TRUE(sampler.busy_percent());
}

TEST(GpuSampler, a_gpu_that_is_lost_says_nothing_and_comes_back) {
  fakes::FakeNvml nvml(RL_TEST_FAKE_NVML);
  fakes::FakeClock clock;
  GpuSampler sampler("GPU-fake-0", clock, {RL_TEST_FAKE_NVML});
  ASSERT_TRUE(sampler.sample());
  nvml.set(kFakeDeviceError, 15);
  EXPECT_FALSE(sampler.sample());
  EXPECT_FALSE(sampler.busy_percent());
  nvml.set(kFakeDeviceError, 0);
  const auto back = sampler.sample();
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->throttle_ns.empty());
  EXPECT_FALSE(GpuSampler("", clock, {RL_TEST_FAKE_NVML}).sample()) << "no GPU is watched";
  EXPECT_FALSE(GpuSampler("GPU-fake-0", clock, {"/nowhere/libnvidia-ml.so"}).sample());
}

}  // namespace
}  // namespace ridgeline::watch
