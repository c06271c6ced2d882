// SPDX-License-Identifier: Apache-2.0
#include "workload/training/plugin_library.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "fakes/temporary_folder.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

std::string refusal(const char* path) {
  const auto library = PluginLibrary::open({path});
  return library ? "" : base::error_line(library.error());
}

TEST(PluginLibrary, opens_a_plugin_and_tells_its_torch) {
  const auto library = PluginLibrary::open({RL_TEST_FAKE_TORCH});
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->runtime(), "torch 9.9.9, cpu");
  EXPECT_EQ(library->path(), RL_TEST_FAKE_TORCH);
}

TEST(PluginLibrary, takes_a_later_plugin_with_more_functions) {
  EXPECT_TRUE(PluginLibrary::open({RL_TEST_FAKE_TORCH_LONGER}));
}

TEST(PluginLibrary, gives_memory_back_where_the_plugin_knows_how) {
  EXPECT_TRUE(PluginLibrary::open({RL_TEST_FAKE_TORCH})->release_memory());
  const auto first = PluginLibrary::open({RL_TEST_FAKE_TORCH_FIRST});
  ASSERT_TRUE(first) << "a plugin of the first version serves on: " << first.error().message;
  EXPECT_FALSE(first->release_memory());
}

TEST(PluginLibrary, refuses_what_it_cannot_use_and_names_the_script) {
  EXPECT_NE(refusal(RL_TEST_FAKE_TORCH_OTHER_ABI).find("does not serve version 1"), std::string::npos);
  EXPECT_NE(refusal(RL_TEST_FAKE_TORCH_SHORT).find("another version of the interface"), std::string::npos);
  EXPECT_NE(refusal(RL_TEST_FAKE_TORCH_NO_ENTRY).find("no function ridgeline_train_api"), std::string::npos);
  const auto unresolved = refusal(RL_TEST_FAKE_TORCH_MISSING);
  EXPECT_NE(unresolved.find("undefined symbol: _ZN3c109not_thereEv"), std::string::npos) << unresolved;
  for (const auto* path : {RL_TEST_FAKE_TORCH_OTHER_ABI, RL_TEST_FAKE_TORCH_SHORT, RL_TEST_FAKE_TORCH_NO_ENTRY,
                           RL_TEST_FAKE_TORCH_MISSING, "/nowhere/ridgeline_torch.so"}) {
    const auto text = refusal(path);
    EXPECT_NE(text.find("build_torch_plugin.sh"), std::string::npos) << text;
    EXPECT_NE(text.find(path), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(PluginLibrary, goes_on_to_the_next_candidate_and_reports_the_first) {
  const auto library = PluginLibrary::open({RL_TEST_FAKE_TORCH_MISSING, RL_TEST_FAKE_TORCH});
  ASSERT_TRUE(library);
  EXPECT_EQ(library->path(), RL_TEST_FAKE_TORCH);
  const auto none = PluginLibrary::open({RL_TEST_FAKE_TORCH_MISSING, RL_TEST_FAKE_TORCH_SHORT});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::unavailable);
  EXPECT_NE(none.error().message.find("undefined symbol"), std::string::npos);
}

TEST(PluginLibrary, is_looked_for_where_it_is_named_and_else_in_the_data_folder) {
  const fakes::TemporaryFolder folder;
  ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
  ::unsetenv("RIDGELINE_TORCH_PLUGIN");
  const auto place = folder.path() / "ridgeline/plugins/ridgeline_torch.so";
  std::filesystem::create_directories(place.parent_path());
  std::ofstream(place) << "x";
  auto found = find_torch_plugins("");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front(), place);
  const auto missing = find_torch_plugins("/nowhere/p.so");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("--torch-plugin /nowhere/p.so: no such file"), std::string::npos);
  ::setenv("RIDGELINE_TORCH_PLUGIN", RL_TEST_FAKE_TORCH, 1);
  found = find_torch_plugins("");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::vector<std::filesystem::path>{RL_TEST_FAKE_TORCH}));
  ::setenv("RIDGELINE_TORCH_PLUGIN", "/nowhere/q.so", 1);
  const auto gone = find_torch_plugins("");
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("RIDGELINE_TORCH_PLUGIN /nowhere/q.so"), std::string::npos);
  ::unsetenv("RIDGELINE_TORCH_PLUGIN");
  ::unsetenv("XDG_DATA_HOME");
}

}  // namespace
}  // namespace ridgeline::workload
