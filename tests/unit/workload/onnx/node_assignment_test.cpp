// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_assignment.hpp"

#include <gtest/gtest.h>

#include "unit/workload/temp_folder.hpp"

namespace ridgeline::workload {
namespace {

TEST(NodeAssignment, is_read_from_a_profile_of_several_runs) {
  const TempFolder folder;
  const auto file = folder.write("profile.json", R"([
    {"cat":"Session","name":"model_loading_uri","args":{}},
    {"cat":"Node","name":"a_kernel_time","args":{"op_name":"Conv","provider":"CPUExecutionProvider"}},
    {"cat":"Node","name":"b_kernel_time","args":{"op_name":"fused","provider":"OpenVINOExecutionProvider"}},
    {"cat":"Node","name":"b_kernel_time","args":{"op_name":"fused","provider":"OpenVINOExecutionProvider"}}])");
  const auto read = read_profile(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(count_by_provider(*read),
            (std::map<std::string, std::int64_t>{{"CPUExecutionProvider", 1}, {"OpenVINOExecutionProvider", 1}}));
  const auto beside = nodes_beside(*read, "OpenVINOExecutionProvider");
  ASSERT_EQ(beside.size(), 1U);
  EXPECT_EQ(beside[0].op_type, "Conv");
  EXPECT_FALSE(read_profile(folder.write("cut.json", "[{")));
}

}  // namespace
}  // namespace ridgeline::workload
