// SPDX-License-Identifier: Apache-2.0
#include "execute/torch_caches.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"

namespace ridgeline::execute {
namespace {

class TorchCaches : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto* name : {"XDG_CACHE_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"}) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    spec_.runtime.version = "2.11.0";
    spec_.workload.location = "infer.py:make";
  }
  void TearDown() override {
    for (const auto* name : {"XDG_CACHE_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"}) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::map<std::string, std::string> variables() const {
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : torch_cache_environment(spec_)) all[name] = value;
    return all;
  }
  fakes::TemporaryFolder folder_;
  schema::TrialSpec spec_;
  std::map<std::string, std::string> before_;
};

TEST_F(TorchCaches, are_one_folder_for_all_settings_of_a_model) {
  const auto first = variables();
  spec_.configuration = {{"torch_compile", "default"}};
  EXPECT_EQ(variables(), first);
  const auto folder = first.at("TORCHINDUCTOR_CACHE_DIR");
  EXPECT_EQ(folder.rfind((folder_.path() / "ridgeline/torch/2.11.0-").string(), 0), 0U) << folder;
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(first.at("TRITON_CACHE_DIR"), folder + "/triton");
  spec_.workload.content_sha256 = "another text of the script";
  EXPECT_NE(variables().at("TORCHINDUCTOR_CACHE_DIR"), folder);
}

TEST_F(TorchCaches, are_none_where_torch_does_not_compile) {
  spec_.runtime.version = "1.13.0a0";
  EXPECT_TRUE(variables().empty());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "ridgeline"));
}

TEST_F(TorchCaches, are_the_users_own_where_they_are_set) {
  ::setenv("TRITON_CACHE_DIR", "/mine", 1);
  EXPECT_EQ(variables().count("TRITON_CACHE_DIR"), 0U);
  EXPECT_EQ(variables().count("TORCHINDUCTOR_CACHE_DIR"), 1U);
  ::setenv("TORCHINDUCTOR_CACHE_DIR", "/mine", 1);
  EXPECT_TRUE(variables().empty());
}

}  // namespace
}  // namespace ridgeline::execute
