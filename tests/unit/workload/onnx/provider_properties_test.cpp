// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/provider_properties.hpp"

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

TEST(ProviderProperties, become_part_of_the_text_and_win_over_it) {
  const auto folded = fold_properties({{"load_config", R"({"CPU":{"A":"1","NUM_STREAMS":"9"},"GPU":{"B":"2"}})"},
                                       {"device_type", "CPU"},
                                       {"load_config.NUM_STREAMS", "2"}},
                                      "CPU");
  ASSERT_TRUE(folded) << folded.error().message;
  EXPECT_EQ(*folded, (ProviderOptions{{"device_type", "CPU"},
                                      {"load_config", R"({"CPU":{"A":"1","NUM_STREAMS":"2"},"GPU":{"B":"2"}})"}}));
}

TEST(ProviderProperties, options_without_any_stay_as_they_are) {
  const ProviderOptions options{{"a", "1"}, {"load_config", "kept as it is"}};
  EXPECT_EQ(fold_properties(options, "CPU").value(), options);
}

TEST(ProviderProperties, a_text_that_is_no_object_is_named) {
  for (const auto* text : {"[1]", "{", "config.json"}) {
    const auto folded = fold_properties({{"load_config", text}, {"load_config.A", "1"}}, "CPU");
    ASSERT_FALSE(folded) << text;
    EXPECT_EQ(folded.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(folded.error().message.find(std::string("load_config=") + text), std::string::npos);
  }
}

TEST(ProviderProperties, are_found_again_in_what_is_held) {
  std::map<std::string, std::string> held{{"load_config", R"({"CPU":{"A":"1","B":2}})"}, {"other", "{no json"}};
  unfold_properties(held, "CPU");
  EXPECT_EQ(held.at("load_config.A"), "1");
  EXPECT_EQ(held.at("load_config.B"), "2");
  EXPECT_EQ(held.size(), 4U);
}

}  // namespace
}  // namespace ridgeline::workload
