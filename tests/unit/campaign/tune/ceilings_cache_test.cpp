// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/ceilings_cache.hpp"

#include <fstream>

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

class CeilingsCacheTest : public ::testing::Test {
 protected:
  CeilingsCacheTest() {
    run_.provider = "cuda";
    run_.device = "gpu:GPU-1";
    auto& gpu = run_.environment.gpus.emplace_back();
    gpu.uuid = "GPU-1";
    gpu.driver_version = "580.65";
    run_.runtime.provider_libraries["cuda"]["libcublas.so"] = "13.0.0";
  }
  ~CeilingsCacheTest() override { std::filesystem::remove_all(folder_); }

  double asked(const std::filesystem::path& folder) {
    const auto found = CeilingsCache(folder).get(run_, [&]() -> base::Result<schema::GpuCeilings> {
      schema::GpuCeilings ceilings;
      ceilings.copy_gb_per_s = ++measured_;
      return ceilings;
    });
    return found.value().copy_gb_per_s.value();
  }

  schema::TuneRun run_;
  int measured_ = 0;
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("rl_ceilings_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(CeilingsCacheTest, measures_a_card_once) {
  EXPECT_EQ(asked(folder_), 1);
  EXPECT_EQ(asked(folder_), 1);
  EXPECT_EQ(measured_, 1);
}

TEST_F(CeilingsCacheTest, another_card_driver_or_cublas_is_another_question) {
  asked(folder_);
  run_.environment.gpus[0].driver_version = "581.00";
  EXPECT_EQ(asked(folder_), 2);
  run_.runtime.provider_libraries["cuda"]["libcublas.so"] = "13.1.0";
  EXPECT_EQ(asked(folder_), 3);
  run_.device = "gpu:GPU-2";
  EXPECT_EQ(asked(folder_), 4);
}

TEST_F(CeilingsCacheTest, a_damaged_file_is_measured_again) {
  asked(folder_);
  for (const auto& file : std::filesystem::directory_iterator(folder_)) std::ofstream(file.path()) << "{\"ceilings\":[";
  EXPECT_EQ(asked(folder_), 2);
  EXPECT_EQ(asked(folder_), 2);
}

TEST_F(CeilingsCacheTest, without_a_usable_folder_every_call_measures) {
  EXPECT_EQ(asked({}), 1);
  EXPECT_EQ(asked("/proc/nowhere"), 2);
}

TEST_F(CeilingsCacheTest, a_failed_measurement_is_not_kept) {
  const auto failed = CeilingsCache(folder_).get(
      run_, []() -> base::Result<schema::GpuCeilings> { return base::fail(base::ErrorCode::unavailable, "no GPU"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(asked(folder_), 1);
}

}  // namespace
}  // namespace ridgeline::campaign
