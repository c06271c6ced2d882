// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_stream_worker.hpp"

#include <array>

#include <gtest/gtest.h>

#include "unit/workload/onnx/host_transfer.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"

namespace ridgeline::workload {
namespace {

class OrtStreamWorkerTest : public OrtTest {
 protected:
  OrtStreamWorkerTest() {
    environment_ = OrtEnvironment::create(OrtLibrary::open("", test_search()).value()).value();
    for (std::size_t i = 0; i < images_.size(); ++i) {
      auto& image = images_[i];
      image = {32, 32, stream::PixelFormat::bgr24, std::vector<std::uint8_t>(32 * 32 * 3)};
      for (std::size_t at = 0; at < image.bytes.size(); ++at)
        image.bytes[at] = static_cast<std::uint8_t>((at * (i + 3)) % 251);
    }
  }
  std::unique_ptr<OrtStreamWorker> worker() {
    const auto file = fakes::TinyOnnx()
                          .input("x", 1, {"N", "3", "32", "32"})
                          .output("y", 1, {"N", "3", "32", "32"})
                          .node("Relu", {"x"}, {"y"})
                          .write(folder_ / "picture.onnx");
    const auto settings = SessionSettings::make(*environment_, one_thread(), "cpu").value();
    auto caller = OrtCaller::create(*environment_, file, settings).value();
    auto input = find_picture_inputs(caller->inputs(), file).value().image;
    auto outputs = session_ports(environment_->api(), caller->session(), PortSide::outputs).value();
    const std::vector<stream::OutputShape> shapes{{"y", {3, 32, 32}}};
    OrtStreamParts parts{std::move(caller),
                         std::move(input),
                         {},
                         std::move(outputs),
                         settings.make_run_options(SessionSettings::kNoGraph).value(),
                         stream::Preprocessor(stream::PreprocessOptions{})};
    auto made = std::make_unique<OrtStreamWorker>(*environment_, std::move(parts));
    made->set_decoder(stream::make_decoder("none", {}, shapes, 32, 32).value());
    return made;
  }
  std::vector<std::string> run(OrtStreamWorker& worker, std::size_t frames, std::uint32_t executed,
                               stream::BatchTimes& times) {
    std::vector<stream::BatchFrame> batch;
    for (std::size_t i = 0; i < frames; ++i) batch.push_back({.image = &images_[i]});
    std::vector<std::string> results(frames);
    const auto ran = worker.run(batch, executed, results);
    EXPECT_TRUE(ran) << ran.error().message;
    times = ran.value_or(stream::BatchTimes{});
    return results;
  }

  std::unique_ptr<OrtEnvironment> environment_;
  std::array<stream::Image, 3> images_;
};

TEST_F(OrtStreamWorkerTest, a_bound_session_gives_the_same_and_tells_what_copies_take) {
  const auto plain = worker();
  const auto bound = worker();
  int copies = 0;
  ASSERT_TRUE(bound->bind(std::make_unique<HostTransfer>(copies)));
  for (const auto& [frames, executed] : {std::pair{3U, 4U}, std::pair{1U, 1U}, std::pair{3U, 3U}, std::pair{2U, 4U}}) {
    stream::BatchTimes plain_times;
    stream::BatchTimes bound_times;
    const auto wanted = run(*plain, frames, executed, plain_times);
    EXPECT_EQ(run(*bound, frames, executed, bound_times), wanted);
    EXPECT_NE(wanted.front().find("outputs"), std::string::npos) << wanted.front();
    EXPECT_EQ(plain_times.copy_ns, 0);
    EXPECT_GT(bound_times.copy_ns, 0);
    EXPECT_GT(bound_times.inference_ns, 0);
  }
  EXPECT_EQ(copies, 8) << "one there and one back for each batch";
}

}  // namespace
}  // namespace ridgeline::workload
