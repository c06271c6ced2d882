// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/bound_session.hpp"

#include <gtest/gtest.h>

#include "unit/workload/onnx/host_transfer.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"
#include "workload/onnx/ort_caller.hpp"
#include "workload/onnx/output_values.hpp"

namespace ridgeline::workload {
namespace {

class BoundSessionTest : public OrtTest {
 protected:
  BoundSessionTest() {
    auto library = OrtLibrary::open("", test_search());
    environment_ = OrtEnvironment::create(std::move(*library)).value();
    const auto settings = SessionSettings::make(*environment_, one_thread(), "cpu");
    caller_ = OrtCaller::create(*environment_, relu_model().write(folder_ / "model.onnx"), *settings).value();
    outputs_ = session_ports(environment_->api(), caller_->session(), PortSide::outputs).value();
    bound_ = BoundSession::create(*environment_, caller_->session(), outputs_, std::make_unique<HostTransfer>(copies_))
                 .value();
  }
  base::Result<void> run_bound(const OrtValue* input) {
    const char* name = "x";
    return bound_->run(nullptr, {&name, 1}, {&input, 1});
  }
  /// relu of that many rows.
  std::vector<float> run(std::int64_t rows, float first) {
    std::vector<float> input(static_cast<std::size_t>(rows) * 4, first);
    const auto bytes = input.size() * sizeof(float);
    const auto device = bound_->transfer().allocate_device(bytes).value();
    EXPECT_TRUE(bound_->transfer().to_device(device.get(), input.data(), bytes));
    const auto value =
        wrap_memory(environment_->api(), {MemoryPlace::pinned, device.get(), bytes}, ElementType::float32, {rows, 4})
            .value();
    const auto ran = run_bound(value.get());
    EXPECT_TRUE(ran) << ran.error().message;
    const auto outputs = bound_->take_outputs();
    EXPECT_TRUE(outputs) << outputs.error().message;
    OutputValues read;
    EXPECT_TRUE(read.read(environment_->api(), outputs->front().get(), outputs_.front()));
    return {read.values().begin(), read.values().end()};
  }

  int copies_ = 0;
  std::unique_ptr<OrtEnvironment> environment_;
  std::unique_ptr<OrtCaller> caller_;
  std::vector<OrtPort> outputs_;
  std::unique_ptr<BoundSession> bound_;
};

TEST_F(BoundSessionTest, copies_once_there_and_once_back) {
  EXPECT_EQ(run(2, 3), std::vector<float>(8, 3));
  EXPECT_EQ(copies_, 2);
}

TEST_F(BoundSessionTest, takes_a_batch_of_another_size_at_each_run) {
  for (const std::int64_t rows : {4, 1, 64, 2}) {
    EXPECT_EQ(run(rows, 5), std::vector<float>(static_cast<std::size_t>(rows) * 4, 5));
    EXPECT_EQ(run(rows, -1), std::vector<float>(static_cast<std::size_t>(rows) * 4, 0));
  }
}

TEST_F(BoundSessionTest, an_input_that_does_not_fit_is_the_runtimes_error) {
  std::vector<float> input(5);
  const auto value =
      wrap_memory(environment_->api(), {MemoryPlace::pinned, input.data(), 20}, ElementType::float32, {1, 5});
  EXPECT_FALSE(run_bound(value->get()));
  EXPECT_EQ(run(1, 2), std::vector<float>(4, 2)) << "the session goes on";
}

}  // namespace
}  // namespace ridgeline::workload
