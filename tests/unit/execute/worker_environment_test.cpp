// SPDX-License-Identifier: Apache-2.0
#include "execute/worker_environment.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace ridgeline::execute {
namespace {

TEST(WorkerEnvironment, a_worker_has_no_settings_that_a_configuration_does_not_name) {
  ::setenv("ORT_TENSORRT_FP16_ENABLE", "1", 1);
  ::setenv("ORT_OPENVINO_ENABLE_DEBUG", "1", 1);
  EXPECT_EQ(ignored_variables(),
            (std::vector<std::string>{"ORT_OPENVINO_ENABLE_DEBUG=1", "ORT_TENSORRT_FP16_ENABLE=1"}));
  clean_worker_environment();
  EXPECT_TRUE(ignored_variables().empty());
  EXPECT_EQ(std::getenv("ORT_TENSORRT_FP16_ENABLE"), nullptr);
}

}  // namespace
}  // namespace ridgeline::execute
