// SPDX-License-Identifier: Apache-2.0
#include "loaded_cuda.hpp"

#include <dlfcn.h>

#include <algorithm>

#include <gtest/gtest.h>

#include "host/cupti_places.hpp"

namespace ridgeline::inject {
namespace {

using host::cupti_places;
using host::library_major;

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(LoadedCudaTest, versions_are_read_from_names_of_files) {
  EXPECT_EQ(library_major("/usr/lib/libcudart.so.13.0.96", "libcudart.so."), 13);
  EXPECT_EQ(library_major("/x/libcudart.so.12", "libcudart.so."), 12);
  EXPECT_EQ(library_major("/x/libcudart.so", "libcudart.so."), std::nullopt);
  EXPECT_EQ(library_major("/x/libcudart-1a2b.so.12", "libcudart.so."), std::nullopt);
}

TEST(LoadedCudaTest, the_runtime_says_which_cuda_it_is_before_cupti_does) {
  EXPECT_EQ(loaded_cuda_major({"/a/libcupti.so.13", "/b/libcudart.so.12"}), 12);
  EXPECT_EQ(loaded_cuda_major({"/a/libcupti.so.13"}), 13);
}

TEST(LoadedCudaTest, a_cupti_that_is_loaded_comes_first_if_it_is_of_that_cuda) {
  const auto places = cupti_places({"/torch/lib/libcupti.so.13", "/old/libcupti.so.12"}, 13);
  EXPECT_EQ(places.front(), "/torch/lib/libcupti.so.13");
  EXPECT_FALSE(has(places, "/old/libcupti.so.12"));
}

TEST(LoadedCudaTest, pip_and_the_toolkit_are_looked_in) {
  EXPECT_TRUE(has(cupti_places({"/site/nvidia/cu13/lib/libcudart.so.13"}, 13), "/site/nvidia/cu13/lib/libcupti.so.13"));
  EXPECT_TRUE(has(cupti_places({"/site/nvidia/cuda_runtime/lib/libcudart.so.12"}, 12),
                  "/site/nvidia/cuda_cupti/lib/libcupti.so.12"));
  EXPECT_TRUE(has(cupti_places({"/usr/local/cuda-13.0/lib64/libcudart.so.13.0.96"}, 13),
                  "/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13"));
  EXPECT_TRUE(has(cupti_places({}, 13), "libcupti.so.13"));
}

TEST(LoadedCudaTest, this_process_has_libraries_but_no_cuda) {
  EXPECT_FALSE(loaded_libraries().empty());
  EXPECT_EQ(loaded_cuda_major(loaded_libraries()), 0);
}

TEST(LoadedCudaTest, a_driver_that_is_loaded_for_itself_alone_says_its_version) {
  void* driver = ::dlopen(RL_TEST_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(driver, nullptr) << ::dlerror();
  EXPECT_EQ(loaded_cuda_major({"/usr/lib/libc.so.6"}), 13);
  ::dlclose(driver);
}

}  // namespace
}  // namespace ridgeline::inject
