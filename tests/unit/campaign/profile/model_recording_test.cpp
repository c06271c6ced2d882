// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/model_recording.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "campaign/messages.hpp"
#include "trace/file/trace_writer.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::campaign {
namespace {

constexpr std::int64_t kZero = 5'000'000;

class ModelRecordingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("CUDA_INJECTION64_PATH");
    ::unsetenv("NVTX_INJECTION64_PATH");
  }
  static std::string value(const ModelRecording& recording, const std::string& name) {
    for (const auto& [key, value] : recording.environment())
      if (key == name) return value;
    return "";
  }
  static trace::Trace profile() {
    trace::TraceBuilder builder;
    builder.annotation("model_run", 100'000, 200'000);
    builder.node("/encoder/MatMul", "MatMul", 110'000, 190'000);
    return std::move(builder.trace);
  }
};

TEST_F(ModelRecordingTest, nodes_get_what_the_worker_recorded) {
  const ModelRecording recording(base::Result<std::string>("/lib/libridgeline_inject.so"));
  EXPECT_EQ(value(recording, "CUDA_INJECTION64_PATH"), "/lib/libridgeline_inject.so");
  EXPECT_EQ(value(recording, "PYTHONPATH"), "");
  const auto folder = value(recording, "RIDGELINE_TRACE_FOLDER");
  trace::TraceBuilder recorded;
  recorded.launch("gemm", kZero + 120'000, kZero + 130'000, kZero + 140'000);
  {
    auto writer = trace::TraceWriter::create(folder + "/1.rltrace");
    ASSERT_TRUE(writer && writer->append(recorded.trace) && writer->finish());
    std::ofstream(folder + "/1.facts") << "pid=1\nstate=recording\n";
  }
  auto trace = profile();
  EXPECT_TRUE(recording.add_work(kZero, trace).empty());
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.kernels.start_ns[0], 130'000);
}

TEST_F(ModelRecordingTest, says_why_there_are_no_kernels) {
  auto trace = profile();
  const ModelRecording none(base::Result<std::string>(base::fail(base::ErrorCode::not_found, "no such library")));
  EXPECT_TRUE(none.environment().empty());
  EXPECT_EQ(none.add_work(kZero, trace), messages::model_not_recorded("no such library"));

  const ModelRecording unused(base::Result<std::string>("/lib/libridgeline_inject.so"));
  EXPECT_EQ(unused.add_work(kZero, trace), messages::model_not_recorded("CUDA did not open the library that records"));
  std::ofstream(value(unused, "RIDGELINE_TRACE_FOLDER") + "/1.facts")
      << "pid=1\nstate=no_cupti\nwhy=no libcupti.so.13\n";
  EXPECT_EQ(unused.add_work(kZero, trace), messages::model_not_recorded("no libcupti.so.13"));

  ::setenv("CUDA_INJECTION64_PATH", "/opt/other.so", 1);
  const ModelRecording other(base::Result<std::string>("/lib/libridgeline_inject.so"));
  ::unsetenv("CUDA_INJECTION64_PATH");
  EXPECT_TRUE(other.environment().empty());
  EXPECT_EQ(other.add_work(kZero, trace),
            messages::model_not_recorded("CUDA_INJECTION64_PATH names another library, /opt/other.so"));
  EXPECT_EQ(trace.kernels.size(), 0U);
}

}  // namespace
}  // namespace ridgeline::campaign
