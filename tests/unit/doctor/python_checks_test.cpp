// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "healthy_facts.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

Check first(const Facts& facts) { return check_python(facts).front(); }

TEST(PythonChecks, an_environment_says_what_it_would_use) {
  const auto check = first(healthy_facts());
  EXPECT_EQ(check.status, CheckStatus::ok);
  EXPECT_TRUE(contains(text_of(check.evidence), "torch 2.11.0 (CUDA 13.0)"));
  EXPECT_TRUE(contains(text_of(check.evidence), "would use CUDAExecutionProvider"));
}

TEST(PythonChecks, torch_of_another_python_than_the_one_on_the_path_says_how_to_choose_it) {
  auto facts = cpu_facts();
  facts.pythons = {{schema::messages::foreign("x"), {}, {}, "", "/x/bin/python3", true},
                   {schema::messages::foreign("y"), {{"torch", "1.13.0"}}, {}, "", "/usr/bin/python3"}};
  const auto checks = check_python(facts);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks.front().status, CheckStatus::skipped);
  EXPECT_EQ(text_of(checks.front().evidence), "x (python3 on PATH): neither onnxruntime nor torch");
  EXPECT_EQ(checks.back().status, CheckStatus::ok);
  EXPECT_EQ(text_of(checks.back().evidence), "y: torch 1.13.0 (CPU); chosen with --python-exe /usr/bin/python3");
}

TEST(PythonChecks, none_is_skipped) { EXPECT_EQ(first(cpu_facts()).status, CheckStatus::skipped); }

TEST(PythonChecks, both_builds_of_onnxruntime_are_a_warning) {
  auto facts = healthy_facts();
  facts.pythons.front().packages["onnxruntime"] = "1.29.0";
  EXPECT_EQ(first(facts).status, CheckStatus::warn);
  EXPECT_TRUE(contains(first(facts).commands.front(), "pip uninstall"));
}

TEST(PythonChecks, every_two_builds_of_onnxruntime_collide_but_an_add_on_does_not) {
  auto facts = cpu_facts();
  facts.pythons = {
      {schema::messages::foreign("x"), {{"onnxruntime", "1.24.1"}, {"onnxruntime-extensions", "0.14"}}, {}, ""}};
  EXPECT_EQ(first(facts).status, CheckStatus::ok);
  facts.pythons.front().packages["onnxruntime-ep-openvino"] = "1.8.1";  // a plug-in has a folder of its own
  EXPECT_EQ(first(facts).status, CheckStatus::ok);
  facts.pythons.front().packages["onnxruntime-openvino"] = "1.24.1";
  EXPECT_EQ(first(facts).status, CheckStatus::warn);
  EXPECT_EQ(first(facts).commands, (std::vector<std::string>{"pip uninstall -y onnxruntime onnxruntime-openvino",
                                                             "pip install onnxruntime-openvino"}));
}

TEST(PythonChecks, cpu_builds_are_a_warning_only_beside_a_gpu) {
  auto facts = healthy_facts();
  facts.pythons = {{schema::messages::foreign("x"), {{"torch", "2.11.0"}}, {}, ""}};
  EXPECT_EQ(first(facts).status, CheckStatus::warn);
  facts.pythons = {{schema::messages::foreign("x"), {{"onnxruntime", "1.29.0"}}, {"CPUExecutionProvider"}, ""}};
  EXPECT_EQ(first(facts).status, CheckStatus::warn);
  facts.driver = {};
  EXPECT_EQ(first(facts).status, CheckStatus::ok);
}

TEST(PythonChecks, torch_for_a_newer_cuda_than_the_driver_serves_fails) {
  auto facts = healthy_facts();
  facts.driver.cuda_version = "12.8";
  EXPECT_EQ(first(facts).status, CheckStatus::fail);
  facts.pythons.front().torch_cuda = "12.6";
  EXPECT_EQ(first(facts).status, CheckStatus::ok);
}

}  // namespace
}  // namespace ridgeline::doctor
