// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_library.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/hash.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"
#include "workload/onnx/ort_environment.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

bool has(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

OrtSearchEnvironment nothing_anywhere(const TempFolder& folder) {
  OrtSearchEnvironment environment;
  environment.executable = folder / "bin/ridgeline";
  environment.cache = folder / "cache";
  return environment;
}

TEST(OrtLibrary, the_real_library_says_who_it_is) {
  const auto library = OrtLibrary::open("", test_search());
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_GE(library->api_version(), 17);
  EXPECT_EQ(library->version().substr(0, 2), "1.");
  const auto identity = library->identity(test_search());
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->name, "onnxruntime");
  EXPECT_EQ(identity->library_sha256, base::sha256_file(identity->library_path).value());
  EXPECT_TRUE(has(identity->providers, "CPUExecutionProvider"));
}

TEST(OrtLibrary, its_environment_turns_the_reporting_of_usage_off) {
  ::unsetenv("ORT_DISABLE_TELEMETRY");
  auto library = OrtLibrary::open("", test_search());
  ASSERT_TRUE(library);
  ASSERT_TRUE(OrtEnvironment::create(std::move(*library)));
  EXPECT_STREQ(std::getenv("ORT_DISABLE_TELEMETRY"), "1");
}

TEST(OrtLibrary, when_there_is_none_the_places_are_listed_on_one_line) {
  const TempFolder folder;
  const auto environment = nothing_anywhere(folder);
  auto library = OrtLibrary::open("", environment);
  if (library) GTEST_SKIP() << "the system has " << library->path();
  EXPECT_EQ(library.error().code, ErrorCode::not_found);
  const auto message = base::error_line(library.error());
  for (const auto* place :
       {"RIDGELINE_ORT_LIBRARY", "next to the program", "ONNXRUNTIME_ROOT", "cache", "system", "--ort-library"})
    EXPECT_NE(message.find(place), std::string::npos) << place << ": " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(OrtLibrary, a_named_library_that_does_not_load_is_not_replaced_by_another) {
  auto search = test_search();
  for (const std::string path : {"/nowhere/libonnxruntime.so", "/tmp", "/etc/hostname"}) {
    const auto library = OrtLibrary::open(path, search);
    ASSERT_FALSE(library) << path;
    EXPECT_EQ(library.error().code, ErrorCode::unavailable);
    EXPECT_NE(library.error().message.find(path), std::string::npos) << library.error().message;
    EXPECT_NE(library.error().message.find("expected libonnxruntime.so of version 1.17"), std::string::npos)
        << library.error().message;
  }
}

TEST(OrtLibrary, a_library_that_is_none_is_refused) {
  const auto library = OrtLibrary::open("libm.so.6", test_search());
  ASSERT_FALSE(library);
  EXPECT_NE(library.error().message.find("OrtGetApiBase"), std::string::npos) << library.error().message;
}

TEST(OrtLibrary, an_old_library_is_refused_with_its_version) {
  const auto library = OrtLibrary::open(RL_TEST_OLD_ORT, test_search());
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::unavailable);
  EXPECT_NE(library.error().message.find("library too old: ONNX Runtime 1.10.0"), std::string::npos)
      << library.error().message;
}

TEST(OrtLibrary, an_old_library_in_one_place_does_not_hide_a_good_one_in_the_next) {
  const TempFolder folder;
  const auto real = OrtLibrary::open("", test_search());
  ASSERT_TRUE(real);
  auto environment = nothing_anywhere(folder);
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::create_symlink(RL_TEST_OLD_ORT, folder / "bin/libonnxruntime.so");
  std::filesystem::create_directories(folder / "cache/onnxruntime/1.29.0");
  std::filesystem::create_symlink(real->path().parent_path(), folder / "cache/onnxruntime/1.29.0/lib");
  const auto library = OrtLibrary::open("", environment);
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->version(), real->version());
}

}  // namespace
}  // namespace ridgeline::workload
