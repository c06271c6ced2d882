// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_search.hpp"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "unit/workload/temp_folder.hpp"

namespace ridgeline::workload {
namespace {

std::vector<std::string> files_of(const std::vector<OrtPlace>& places) {
  std::vector<std::string> files;
  for (const auto& place : places) files.insert(files.end(), place.files.begin(), place.files.end());
  return files;
}

class OrtSearch : public ::testing::Test {
 protected:
  OrtSearch() {
    environment_.executable = folder_ / "app/bin/ridgeline";
    environment_.cache = folder_ / "cache";
  }
  std::string put(const std::string& name) { return folder_.write(name, "x").string(); }
  TempFolder folder_;
  OrtSearchEnvironment environment_;
};

TEST_F(OrtSearch, a_named_file_is_the_only_place) {
  put("app/lib/libonnxruntime.so");
  const auto places = ort_places("/x/libonnxruntime.so", environment_);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_TRUE(places[0].named_by_user);
  EXPECT_EQ(places[0].files, std::vector<std::string>{"/x/libonnxruntime.so"});
}

TEST_F(OrtSearch, a_file_of_the_working_folder_needs_no_slash) {
  const auto file = put("release/libmine.so");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / "release");
  const auto there = ort_places("libmine.so", environment_);
  const auto absent = ort_places("libother.so", environment_);
  std::filesystem::current_path(before);
  EXPECT_EQ(there[0].files, std::vector<std::string>{file});
  EXPECT_EQ(absent[0].files, std::vector<std::string>{"libother.so"}) << "the loader's to find";
}

TEST_F(OrtSearch, a_named_folder_is_searched_with_its_lib) {
  const auto file = put("release/lib/libonnxruntime.so.1.20.0");
  EXPECT_EQ(ort_places((folder_ / "release").string(), environment_)[0].files, std::vector<std::string>{file});
}

TEST_F(OrtSearch, the_variable_comes_after_the_flag) {
  environment_.ort_library = "/y/libonnxruntime.so";
  EXPECT_EQ(ort_places("/x/lib.so", environment_)[0].files[0], "/x/lib.so");
  const auto places = ort_places("", environment_);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].files[0], "/y/libonnxruntime.so");
}

TEST_F(OrtSearch, places_come_in_the_documented_order) {
  const std::vector<std::string> expected{
      put("app/bin/libonnxruntime.so"),
      put("app/lib/libonnxruntime.so.1"),
      put("root/lib/libonnxruntime.so"),
      put("venv/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.20.1"),
      put("conda/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.21.0"),
      put("usr/lib/python3/dist-packages/onnxruntime/capi/libonnxruntime.so.1.18.0"),
      put("home/.local/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.19.0"),
      put("cache/onnxruntime/1.29.0/lib/libonnxruntime.so"),
      put("cache/onnxruntime/1.9.0/lib/libonnxruntime.so"),
      "libonnxruntime.so.1",
      "libonnxruntime.so",
  };
  put("usr/bin/python3");
  environment_.ort_root = (folder_ / "root").string();
  environment_.virtual_env = (folder_ / "venv").string();
  environment_.conda_prefix = (folder_ / "conda").string();
  environment_.path = (folder_ / "nowhere").string() + ":" + (folder_ / "usr/bin").string();
  environment_.home = (folder_ / "home").string();
  EXPECT_EQ(files_of(ort_places("", environment_)), expected);
}

TEST_F(OrtSearch, provider_libraries_are_no_runtimes_and_newer_versions_come_first) {
  const auto older = put("lib/libonnxruntime.so.1.9.0");
  const auto newer = put("lib/libonnxruntime.so.1.20.0");
  put("lib/libonnxruntime_providers_shared.so");
  const auto plain = put("lib/libonnxruntime.so");
  EXPECT_EQ(ort_files_in(folder_ / "lib"), (std::vector<std::string>{plain, newer, older}));
  EXPECT_TRUE(ort_files_in(folder_ / "absent").empty());
}

}  // namespace
}  // namespace ridgeline::workload
