// SPDX-License-Identifier: Apache-2.0
// Public traces, which are not part of the project: the test skips where their folder is not beside it.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/profile_comparison.hpp"
#include "campaign/profile/profile_files.hpp"
#include "fakes/words.hpp"
#include "report/profile/profile_comparison_text.hpp"

namespace ridgeline::campaign {
namespace {

const auto kTraces = std::filesystem::path(RL_SOURCE_DIR) / ".." / "shared" / "data" / "traces";

// Found by a JSON parser of another language, which counted the events of category "cpu_op" by their names.
const std::vector<std::string> kOnlyControl{
    "AddBackward0",
    "BinaryCrossEntropyWithLogitsBackward0",
    "BmmBackward0",
    "ClampBackward1",
    "CloneBackward0",
    "MeanBackward0",
    "MmBackward0",
    "PermuteBackward0",
    "ReluBackward0",
    "ReshapeAliasBackward0",
    "SliceBackward0",
    "SplitBackward0",
    "SqueezeBackward0",
    "TanhBackward0",
    "UnsafeViewBackward0",
    "UnsqueezeBackward0",
    "ViewBackward0",
    "aten::_reshape_alias",
    "aten::_unsafe_view",
    "aten::binary_cross_entropy_with_logits",
    "aten::bmm",
    "aten::bucketize",
    "aten::chunk",
    "aten::clamp_min",
    "aten::clamp_min_",
    "aten::div",
    "aten::eq",
    "aten::exp_",
    "aten::flatten",
    "aten::full",
    "aten::ge",
    "aten::gt",
    "aten::index",
    "aten::index_add_",
    "aten::index_copy_",
    "aten::index_select",
    "aten::le",
    "aten::log_",
    "aten::logical_and",
    "aten::logical_and_",
    "aten::matmul",
    "aten::mean",
    "aten::mul_",
    "aten::permute",
    "aten::relu",
    "aten::reshape",
    "aten::resize_",
    "aten::scalar_tensor",
    "aten::slice_backward",
    "aten::split",
    "aten::tanh",
    "aten::tanh_backward",
    "aten::threshold_backward",
    "aten::where",
    "autograd::engine::evaluate_function: AddBackward0",
    "autograd::engine::evaluate_function: BinaryCrossEntropyWithLogitsBackward0",
    "autograd::engine::evaluate_function: BmmBackward0",
    "autograd::engine::evaluate_function: ClampBackward1",
    "autograd::engine::evaluate_function: CloneBackward0",
    "autograd::engine::evaluate_function: MeanBackward0",
    "autograd::engine::evaluate_function: MmBackward0",
    "autograd::engine::evaluate_function: PermuteBackward0",
    "autograd::engine::evaluate_function: ReluBackward0",
    "autograd::engine::evaluate_function: ReshapeAliasBackward0",
    "autograd::engine::evaluate_function: SliceBackward0",
    "autograd::engine::evaluate_function: SplitBackward0",
    "autograd::engine::evaluate_function: SqueezeBackward0",
    "autograd::engine::evaluate_function: TanhBackward0",
    "autograd::engine::evaluate_function: UnsafeViewBackward0",
    "autograd::engine::evaluate_function: UnsqueezeBackward0",
    "autograd::engine::evaluate_function: ViewBackward0",
    "fb::to_dense_representation"};
const std::vector<std::string> kOnlyTest{"CompiledFunction", "CompiledFunctionBackward",
                                         "autograd::engine::evaluate_function: CompiledFunctionBackward"};
constexpr std::size_t kOtherCounts = 66;

schema::ProfileRun profile_of(const std::string& name) {
  schema::ProfileRun run;
  auto files = profile_files({(kTraces / name).string()});
  EXPECT_TRUE(files) << files.error().message;
  if (files) run.tables = std::move(files->tables);
  return run;
}

std::vector<std::string> names_of(const std::vector<analysis::CallsChange>& changes) {
  std::vector<std::string> names;
  for (const auto& change : changes) names.push_back(change.name);
  std::sort(names.begin(), names.end());
  return names;
}

/// A rank of a training without torch.compile on A100, and one with it on V100.
TEST(PublicComparison, operators_that_only_one_side_has_and_those_that_grew) {
  if (!std::filesystem::exists(kTraces)) GTEST_SKIP() << kTraces << " is not here";
  const auto found = analysis::compare_profiles(profile_of("kineto_diff_control.json.gz"),
                                                profile_of("kineto_diff_test.json.gz"), 0.02);
  ASSERT_EQ(kOnlyControl.size(), 72U);
  EXPECT_EQ(names_of(found.only_a), kOnlyControl);
  EXPECT_EQ(names_of(found.only_b), kOnlyTest);
  EXPECT_EQ(found.changed.size(), kOtherCounts);
  const auto calls = [&](std::string_view name) {
    const auto at = std::find_if(found.changed.begin(), found.changed.end(),
                                 [&](const auto& change) { return change.name == name; });
    return at == found.changed.end() ? std::pair<std::int64_t, std::int64_t>() : std::pair(at->a, at->b);
  };
  EXPECT_EQ(calls("aten::copy_"), std::pair(std::int64_t{444}, std::int64_t{5232}));
  EXPECT_EQ(calls("aten::clone"), std::pair(std::int64_t{48}, std::int64_t{2334}));

  const auto lines = report::profile_comparison_lines(fakes::words(), found);
  const auto line = [&](std::string_view begin) {
    const auto at = std::find_if(lines.begin(), lines.end(), [&](const auto& one) { return one.starts_with(begin); });
    return at == lines.end() ? std::string() : *at;
  };
  const auto only_a = line("72 operations only in A: ");
  for (const auto& name : kOnlyControl) EXPECT_NE(only_a.find(name + " ("), std::string::npos) << name;
  const auto only_b = line("3 operations only in B: ");
  for (const auto& name : kOnlyTest) EXPECT_NE(only_b.find(name + " ("), std::string::npos) << name;
  EXPECT_EQ(line("  aten::copy_: "), "  aten::copy_: 444 -> 5232");
  EXPECT_EQ(line("  aten::clone: "), "  aten::clone: 48 -> 2334");
}

}  // namespace
}  // namespace ridgeline::campaign
