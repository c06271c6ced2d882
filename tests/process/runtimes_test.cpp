// SPDX-License-Identifier: Apache-2.0
// Libraries that are no ONNX Runtime, or a broken one: each ends the process that asks it, and nothing else.
#include "execute/found_runtimes.hpp"
#include "fakes/words.hpp"
#include "worker_fixture.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;

class RuntimesTest : public WorkerTest {
 protected:
  void SetUp() override {
    WorkerTest::SetUp();
    for (const auto* name : {"RIDGELINE_ORT_LIBRARY", "ONNXRUNTIME_ROOT", "CONDA_PREFIX"}) ::unsetenv(name);
    ::setenv("PATH", "/nowhere", 1);
    ::setenv("HOME", folder_.c_str(), 1);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    ::setenv("VIRTUAL_ENV", folder_.c_str(), 1);
    executor_ = make_local_executor(worker_options());
  }
  void TearDown() override {
    executor_.reset();
    WorkerTest::TearDown();
  }
  base::Result<ChosenRuntime> choose(const schema::RuntimeRequest& where) {
    auto found = FoundRuntimes::find(*executor_, "onnx", where);
    EXPECT_TRUE(found) << found.error().message;
    return found->choose("", {});
  }
  std::unique_ptr<Executor> executor_;
};

TEST_F(RuntimesTest, a_named_library_that_crashes_or_is_of_another_kind_is_one_line) {
  const auto crashed = choose({RL_TEST_CRASHING, {}, {}});
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().code, ErrorCode::unavailable);
  EXPECT_NE(crashed.error().message.find("SIGSEGV"), std::string::npos) << crashed.error().message;
  EXPECT_EQ(crashed.error().message.rfind("cannot use --ort-library " RL_TEST_CRASHING, 0), 0U)
      << crashed.error().message;
  EXPECT_EQ(crashed.error().message.find('\n'), std::string::npos);
  const auto other = choose({"libm.so.6", {}, {}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::unavailable);
  EXPECT_NE(other.error().message.find("has no OrtGetApiBase"), std::string::npos) << other.error().message;
}

TEST_F(RuntimesTest, one_that_hangs_is_ended) {
  const auto hung = probe(*executor_, "onnx", RL_TEST_HANGING, 0, {{}, 0.5});
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().code, ErrorCode::timeout);
  EXPECT_NE(hung.error().message.find("no result within 0.5 s"), std::string::npos) << hung.error().message;
}

TEST_F(RuntimesTest, what_is_merely_found_and_broken_is_passed_over) {
  if (!std::filesystem::exists(RL_TEST_ORT_ROOT "/lib")) GTEST_SKIP() << "no ONNX Runtime at " RL_TEST_ORT_ROOT;
  const auto capi = folder_ / "lib/python3.11/site-packages/onnxruntime/capi";
  std::filesystem::create_directories(capi);
  std::filesystem::create_symlink(RL_TEST_CRASHING, capi / "libonnxruntime.so.1.30.0");
  const auto chosen = choose({"", {RL_TEST_ORT_ROOT}, {}});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->runtime.name, "onnxruntime");
  EXPECT_EQ(chosen->provider, "cpu");
  ASSERT_FALSE(chosen->notes.empty());
  EXPECT_NE(fakes::text_of(chosen->notes.front()).find("skipped: " + capi.string()), std::string::npos)
      << fakes::text_of(chosen->notes.front());
  EXPECT_NE(fakes::text_of(chosen->notes.front()).find("SIGSEGV"), std::string::npos)
      << fakes::text_of(chosen->notes.front());
}

}  // namespace
}  // namespace ridgeline::execute
