// SPDX-License-Identifier: Apache-2.0
// Every model of Debian's libonnx-testdata through a real worker and the real ONNX Runtime: it runs, or it is refused
// with a cause and one clear line, and the parent lives on.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "fakes/words.hpp"
#include "worker_fixture.hpp"

namespace ridgeline::execute {
namespace {

namespace fs = std::filesystem;
using schema::TrialStatus;

constexpr const char* kCorpus = "/usr/share/libonnx-testdata/data";
constexpr double kDeadlineS = 60;
constexpr int kFewestOk = 850;

std::vector<fs::path> corpus() {
  std::vector<fs::path> models;
  std::error_code error;
  for (fs::recursive_directory_iterator at(kCorpus, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".onnx") models.push_back(at->path());
  std::sort(models.begin(), models.end());
  return models;
}

schema::TrialSpec spec_of(const fs::path& model) {
  schema::TrialSpec spec;
  spec.workload.kind = "onnx";
  spec.workload.location = model.string();
  spec.configuration = {{"intra_op_num_threads", 1}};  // tiny models: threads would only cost
  spec.plan.warmup_runs = 1;
  spec.plan.warmup_max_s = 0.01;
  spec.plan.runs = 3;
  spec.plan.max_time_s = 1;
  return spec;
}

/// "test_add: message" of every model, by status; printed when a test ends, so that a shift is seen in the log.
using Histogram = std::map<std::string, std::vector<std::string>>;

void print(const Histogram& histogram) {
  constexpr std::size_t kShown = 8;
  for (const auto& [status, models] : histogram) {
    std::cout << fmt::format("{:20} {:5}\n", status, models.size());
    if (status == "ok") continue;
    for (std::size_t i = 0; i < std::min(kShown, models.size()); ++i) std::cout << "    " << models[i] << '\n';
    if (models.size() > kShown) std::cout << "    ...\n";
  }
}

void expect_clear(const std::string& message) {
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

class CorpusTest : public WorkerTest {
 protected:
  static void SetUpTestSuite() {
    WorkerTest::SetUpTestSuite();
    if (std::getenv("RIDGELINE_ORT_LIBRARY") == nullptr) ::setenv("ONNXRUNTIME_ROOT", RL_TEST_ORT_ROOT, 0);
  }
};

TEST_F(CorpusTest, every_model_runs_or_is_refused_with_a_cause) {
  const auto models = corpus();
  if (models.empty()) GTEST_SKIP() << "no models below " << kCorpus << ": install libonnx-testdata";
  const auto executor = make_local_executor(worker_options());
  if (const auto runtime = execute::probe(*executor, "onnx", ""); !runtime) {
    ASSERT_EQ(runtime.error().code, base::ErrorCode::not_found) << runtime.error().message;
    GTEST_SKIP() << runtime.error().message;
  }

  Histogram histogram;
  for (const auto& path : models) {
    SCOPED_TRACE(path.string());
    auto spec = spec_of(path);
    const auto name = path.parent_path().filename().string();
    workload::InspectRequest request;
    request.workload = spec.workload;
    const auto description = execute::inspect(*executor, request);
    if (!description) {
      expect_clear(description.error().message);
      EXPECT_NE(description.error().code, base::ErrorCode::crashed) << description.error().message;
      histogram["not inspected"].push_back(name + ": " + description.error().message);
      continue;
    }
    spec.workload.content_sha256 = description->sha256;
    spec.workload.shapes = description->shapes;
    TrialOptions options;
    options.deadline_s = kDeadlineS;
    const auto outcome = execute::run_trial(*executor, spec, options);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const bool ok = outcome->status == TrialStatus::ok;
    EXPECT_EQ(outcome->measurement.has_value(), ok);
    ASSERT_EQ(outcome->failure.has_value(), !ok);
    auto line = name;
    if (outcome->failure) {
      const auto& failure = *outcome->failure;
      expect_clear(fakes::text_of(failure.message));
      line += fmt::format(" in {}: {}", base::enum_name(failure.phase), fakes::text_of(failure.message));
      if (outcome->status == TrialStatus::crashed) {
        EXPECT_TRUE(failure.signal || failure.exit_code) << fakes::text_of(failure.message);
      }
    }
    histogram[std::string(base::enum_name(outcome->status))].push_back(line);
  }
  print(histogram);
  EXPECT_GE(histogram["ok"].size(), static_cast<std::size_t>(kFewestOk));
}

}  // namespace
}  // namespace ridgeline::execute
