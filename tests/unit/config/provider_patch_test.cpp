// SPDX-License-Identifier: Apache-2.0
#include "config/provider_patch.hpp"

#include <gtest/gtest.h>

namespace ridgeline::config {
namespace {

std::string patched(std::string_view yaml, std::string_view provider = "openvino") {
  const auto result = patch_provider(yaml, "c.yaml", *schema::find_provider(provider));
  return result ? result->text : result.error().message;
}

TEST(ProviderPatch, changes_the_value_as_it_is_spelled_there) {
  EXPECT_EQ(patched("onnxruntime:\n  provider: cpu  # all of it\n  threads: 2\n"),
            "onnxruntime:\n  provider: openvino  # all of it\n  threads: 2\n");
  EXPECT_EQ(patched("execution_provider: \"CPUExecutionProvider\"\n"),
            "execution_provider: \"OpenVINOExecutionProvider\"\n");
}

TEST(ProviderPatch, leaves_other_providers_alone) {
  for (const auto* yaml : {"storage:\n  provider: s3\n", "provider:\n  - cpu\n", "provider: openvino\n", "a: 1\n"})
    EXPECT_EQ(patched(yaml), yaml);
  EXPECT_EQ(patched("storage: {provider: s3}\nrun: {provider: cpu}\n"),
            "storage: {provider: s3}\nrun: {provider: openvino}\n");
}

TEST(ProviderPatch, does_not_choose_between_two_nor_change_what_is_used_elsewhere) {
  EXPECT_EQ(patched("a: {provider: cpu}\nb: {provider: cuda}\n"), "c.yaml: a provider stands in lines 1 and 2");
  EXPECT_EQ(patched("provider: &p cpu\nother: *p\n"), "c.yaml:1: provider carries the anchor &p that line 2 uses too");
}

TEST(ProviderPatch, tells_the_edit) {
  const auto result = patch_provider("x:\n  provider: cpu\n", "c.yaml", *schema::find_provider("cuda"));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->edits.size(), 1U);
  EXPECT_EQ(result->edits.front().path, "x.provider");
  EXPECT_EQ(result->edits.front().before, "cpu");
  EXPECT_EQ(result->edits.front().line, 2);
}

}  // namespace
}  // namespace ridgeline::config
