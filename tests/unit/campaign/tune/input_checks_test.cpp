// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/input_checks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "workload/workload.hpp"

namespace ridgeline::campaign {
namespace {

std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class NonfiniteOutputsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "rl-inputs-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    const workload::NamedTensor fine{"a", "float", {4}, floats({1, 2, 3, 4})};
    const workload::NamedTensor bad{"y", "float", {1, 4}, floats({kNan, kNan, kNan, kNan})};
    ASSERT_TRUE(workload::save_outputs({fine, bad, fine, bad}, folder_ / "outputs"));
    output_error_.nonfinite = 8;
    output_error_.worst_output = "a";
    workload_.location = "nan.onnx";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string message() const {
    return base::error_line(nonfinite_outputs(workload_, folder_ / "outputs", output_error_));
  }

  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  std::filesystem::path folder_;
  schema::OutputError output_error_;
  schema::WorkloadRef workload_;
};

TEST_F(NonfiniteOutputsTest, counts_the_elements_of_one_output_once) {
  EXPECT_NE(message().find("output \"y\" holds 4 NaN or Inf values"), std::string::npos) << message();
  EXPECT_NE(message().find("give real inputs"), std::string::npos) << message();
}

TEST_F(NonfiniteOutputsTest, says_that_the_users_own_file_holds_them) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
  header.resize(117, ' ');
  header += '\n';
  const auto path = (folder_ / "x.npy").string();
  std::ofstream(path, std::ios::binary) << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header
                                        << floats({1, kNan, 3, 4});
  workload_.input_files = {{"x", path, ""}};
  EXPECT_NE(message().find("--input x:" + path + " holds 1 NaN or Inf value; give a file without them"),
            std::string::npos)
      << message();
  EXPECT_EQ(message().find("give real inputs"), std::string::npos) << message();
}

}  // namespace
}  // namespace ridgeline::campaign
