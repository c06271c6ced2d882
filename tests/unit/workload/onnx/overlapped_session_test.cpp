// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/overlapped_session.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "unit/gpu/fake_cuda_fixture.hpp"
#include "unit/workload/onnx/fake_preprocess_kernel.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"
#include "workload/onnx/overlapped_lane.hpp"

namespace ridgeline::workload {
namespace {

/// ONNX Runtime on the CPU, with the fake driver, whose GPU memory is the host's.
class OverlappedSessionTest : public gpu::FakeCudaTest {
 protected:
  OverlappedSessionTest() {
    call<void (*)(void (*)(const void*, unsigned, unsigned, unsigned))>("fake_cuda_run")(run_preprocess_kernel);
    environment_ = OrtEnvironment::create(OrtLibrary::open("", test_search()).value()).value();
    before_ = live();
    gpu_ = GpuSide::open({RL_TEST_FAKE_CUDA}).value();
    kernel_ = PreprocessKernel::load(*gpu_, kFakePreprocessPtx).value();
    busy_ = gpu::BusyClock::make(gpu_->driver).value();
    for (std::size_t i = 0; i < images_.size(); ++i) {
      auto& image = images_[i];
      image = {48, 32, stream::PixelFormat::bgr24, std::vector<std::uint8_t>(48 * 32 * 3)};
      for (std::size_t at = 0; at < image.bytes.size(); ++at)
        image.bytes[at] = static_cast<std::uint8_t>((at * (i + 3)) % 251);
    }
  }
  static schema::Configuration one_thread() { return {{"intra_op_num_threads", 1}}; }
  OrtStreamParts parts() {
    const auto file = fakes::TinyOnnx()
                          .input("x", 1, {"N", "3", "32", "32"})
                          .output("y", 1, {"N", "3", "32", "32"})
                          .node("Relu", {"x"}, {"y"})
                          .write(folder_ / "picture.onnx");
    settings_.emplace(SessionSettings::make(*environment_, one_thread(), "cpu").value());
    auto caller = OrtCaller::create(*environment_, file, *settings_).value();
    auto input = find_picture_inputs(caller->inputs(), file).value().image;
    auto outputs = session_ports(environment_->api(), caller->session(), PortSide::outputs).value();
    return {std::move(caller),
            std::move(input),
            {},
            std::move(outputs),
            settings_->make_run_options(SessionSettings::kNoGraph).value(),
            stream::Preprocessor(stream::PreprocessOptions{})};
  }
  std::unique_ptr<OverlappedSession> session() {
    return OverlappedSession::create({*environment_, *gpu_, kernel_, *busy_,
                                      gpu::CudaStream::make(gpu_->driver).value(), MemoryPlace::pinned},
                                     parts())
        .value();
  }
  static std::unique_ptr<stream::ResultDecoder> decoder() {
    const std::vector<stream::OutputShape> shapes{{"y", {3, 32, 32}}};
    return stream::make_decoder("none", {}, shapes, 32, 32).value();
  }
  std::vector<stream::BatchFrame> batch(std::size_t frames) const {
    std::vector<stream::BatchFrame> out;
    for (std::size_t i = 0; i < frames; ++i) out.push_back({.image = &images_[i % images_.size()]});
    return out;
  }
  std::vector<std::string> wanted(std::size_t frames) {
    OrtStreamWorker worker(*environment_, parts());
    worker.set_decoder(decoder());
    std::vector<std::string> results(frames);
    EXPECT_TRUE(worker.run(batch(frames), static_cast<std::uint32_t>(frames), results));
    return results;
  }
  OverlappedSession::GraphOptions graphs() {
    return [this](int number) {
      asked_.push_back(number);
      return settings_->make_run_options(number);
    };
  }

  TempFolder folder_;
  std::unique_ptr<OrtEnvironment> environment_;
  int before_ = 0;
  std::unique_ptr<GpuSide> gpu_;
  std::shared_ptr<const PreprocessKernel> kernel_;
  std::unique_ptr<gpu::BusyClock> busy_;
  std::optional<SessionSettings> settings_;
  std::array<stream::Image, 3> images_;
  std::vector<int> asked_;
};

TEST_F(OverlappedSessionTest, gives_what_a_worker_of_its_own_gives) {
  const auto overlapped = session();
  OverlappedLane lane(*overlapped);
  lane.decoder().set_decoder(decoder());
  for (const auto& [frames, executed] : {std::pair{3U, 4U}, std::pair{1U, 1U}, std::pair{3U, 3U}, std::pair{2U, 4U}}) {
    std::vector<std::string> results(frames);
    const auto times = lane.run(batch(frames), executed, results);
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_EQ(results, wanted(frames));
    EXPECT_GT(times->inference_ns, 0);
    EXPECT_GT(times->copy_ns, 0);
    EXPECT_GE(times->wait_ns, 0);
  }
  const auto times = busy_->times();
  EXPECT_GT(times.busy_ns, 0);
  EXPECT_GT(times.upload_ns, 0);
  EXPECT_LE(times.hidden_ns, times.upload_ns);
  EXPECT_EQ(times.inferences, 4);
  busy_->start_over();
  EXPECT_EQ(busy_->times().inferences, 0);
  EXPECT_EQ(busy_->times().busy_ns, 0);
}

TEST_F(OverlappedSessionTest, a_graph_for_each_slot_and_size_before_the_first_frame) {
  const auto overlapped = session();
  const std::vector<std::uint32_t> sizes{1, 2, 4};
  const auto why_none = overlapped->prepare(images_[0], sizes, graphs());
  ASSERT_TRUE(why_none) << why_none.error().message;
  EXPECT_EQ(*why_none, "");
  EXPECT_EQ(asked_, (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(overlapped->graphs(), 2 * sizes.size());
  OverlappedLane lane(*overlapped);
  lane.decoder().set_decoder(decoder());
  const int made = live();
  for (const auto frames : {1U, 2U, 3U, 4U, 1U}) {
    std::vector<std::string> results(frames);
    ASSERT_TRUE(lane.run(batch(frames), frames < 3 ? frames : 4, results));
    EXPECT_EQ(results, wanted(frames)) << "outputs at addresses that stay";
  }
  EXPECT_LE(live() - made, 1) << "only the lane's room for outputs is new";
  EXPECT_EQ(asked_.size(), 6U);
}

TEST_F(OverlappedSessionTest, lanes_share_its_slots) {
  const auto overlapped = session();
  const auto expected = wanted(3);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 5; ++i)
    threads.emplace_back([&] {
      OverlappedLane lane(*overlapped);
      lane.decoder().set_decoder(decoder());
      for (int run = 0; run < 20; ++run) {
        std::vector<std::string> results(3);
        if (lane.run(batch(3), 4, results) && results == expected) ++right;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 100);
}

TEST_F(OverlappedSessionTest, goes_on_after_a_fault_and_gives_everything_back) {
  {
    const auto overlapped = session();
    OverlappedLane lane(*overlapped);
    lane.decoder().set_decoder(decoder());
    std::vector<std::string> results(2);
    set("fake_cuda_fail_launch", 700);
    for (int i = 0; i < 3; ++i) {
      const auto failed = lane.run(batch(2), 2, results);
      ASSERT_FALSE(failed);
      EXPECT_NE(failed.error().message.find("preprocessing frames on the GPU"), std::string::npos);
    }
    set("fake_cuda_fail_launch", 0);
    ASSERT_TRUE(lane.run(batch(2), 2, results));
    EXPECT_EQ(results, wanted(2));
    set("fake_cuda_fail", 2);
    std::vector<std::string> more(3);
    const auto full = lane.run(batch(3), 3, more);
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, base::ErrorCode::out_of_memory);
    set("fake_cuda_fail", 0);
  }
  busy_.reset();
  kernel_.reset();
  gpu_.reset();
  EXPECT_EQ(live(), before_);
}

TEST(SessionThread, runs_jobs_in_turn_on_one_thread) {
  SessionThread thread;
  std::thread::id first;
  ASSERT_TRUE(thread.run([&]() -> base::Result<void> {
    first = std::this_thread::get_id();
    return {};
  }));
  EXPECT_NE(first, std::this_thread::get_id());
  std::vector<std::thread> callers;
  int counted = 0;  // by that thread alone
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int run = 0; run < 100; ++run)
        EXPECT_TRUE(thread.run([&]() -> base::Result<void> {
          EXPECT_EQ(std::this_thread::get_id(), first);
          ++counted;
          return {};
        }));
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(counted, 400);
  const auto failed = thread.run([] { return base::Result<void>(base::fail(base::ErrorCode::io, "no")); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
}

}  // namespace
}  // namespace ridgeline::workload
