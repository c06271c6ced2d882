// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/gpu_side.hpp"

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

schema::TrialSpec spec_with(const std::string& io, schema::Configuration configuration) {
  schema::TrialSpec spec;
  spec.provider = "cuda";
  spec.tensor_location = io;
  spec.configuration = std::move(configuration);
  return spec;
}

TEST(IoBindingOf, data_in_host_memory_is_unbound_unless_said) {
  EXPECT_EQ(io_binding_of(spec_with("host", {})), IoBinding::none);
  EXPECT_EQ(io_binding_of(spec_with("host", {{"io_binding", "pinned"}})), IoBinding::pinned);
  EXPECT_EQ(io_binding_of(spec_with("host", {{"io_binding", "stream"}})), IoBinding::stream);
}

TEST(IoBindingOf, data_on_the_gpu_is_bound_there) {
  EXPECT_EQ(io_binding_of(spec_with("device", {})), IoBinding::device);
  EXPECT_EQ(io_binding_of(spec_with("device", {{"io_binding", "stream"}})), IoBinding::stream);
}

TEST(IoBindingOf, host_memory_contradicts_data_that_stays_on_the_gpu) {
  for (const auto* text : {"none", "pinned"}) {
    const auto refused = io_binding_of(spec_with("device", {{"io_binding", text}}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find(std::string("io_binding=") + text), std::string::npos);
  }
}

}  // namespace
}  // namespace ridgeline::workload
