// SPDX-License-Identifier: Apache-2.0
// The real PP-OCRv4 models.
#include "unit/workload/onnx/ort_fixture.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::workload {
namespace {

class OrtModels : public ::testing::TestWithParam<std::pair<const char*, std::vector<std::int64_t>>> {
 protected:
  schema::TrialSpec spec() {
    schema::TrialSpec spec;
    spec.workload.kind = "onnx";
    spec.workload.location = std::string(RL_TEST_MODEL_DIR) + "/" + GetParam().first;
    spec.workload.shapes = {{{"x", GetParam().second}}};
    spec.configuration = {{"intra_op_num_threads", 1}};
    return spec;
  }
  void SetUp() override {
    if (!std::filesystem::exists(spec().workload.location))
      GTEST_SKIP() << spec().workload.location << " is absent: run scripts/fetch_onnxruntime.sh";
  }
};

TEST_P(OrtModels, run_and_agree_with_the_reference_configuration) {
  const auto registry = make_default_registry();
  const auto kind = registry.find("onnx");
  ASSERT_TRUE(kind);
  auto reference_spec = spec();
  reference_spec.configuration = (*kind)->reference;
  const auto reference = make_ort_workload(reference_spec, test_search());
  const auto prepared = reference->prepare();
  ASSERT_TRUE(prepared) << prepared.error().message;
  const auto candidate = make_ort_workload(spec(), test_search());
  ASSERT_TRUE(candidate->prepare());
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(candidate->step(0)) << candidate->last_error(0).message;
  const auto output_error = compare_outputs(reference->outputs().value(), candidate->outputs().value());
  EXPECT_FALSE(output_error.shape_mismatch);
  EXPECT_GT(output_error.elements, 0);
  EXPECT_EQ(output_error.nonfinite, 0);
  EXPECT_LT(output_error.scaled_max_abs, 1e-3);
  EXPECT_GT(output_error.cosine, 0.99999);
}

TEST_P(OrtModels, give_the_same_outputs_twice) {
  const auto first = make_ort_workload(spec(), test_search());
  const auto second = make_ort_workload(spec(), test_search());
  ASSERT_TRUE(first->prepare());
  ASSERT_TRUE(second->prepare());
  const auto output_error = compare_outputs(first->outputs().value(), second->outputs().value());
  EXPECT_EQ(output_error.max_abs, 0);
}

INSTANTIATE_TEST_SUITE_P(
    PpOcr, OrtModels,
    ::testing::Values(std::pair<const char*, std::vector<std::int64_t>>{"ch_PP-OCRv4_det_infer.onnx", {1, 3, 64, 64}},
                      std::pair<const char*, std::vector<std::int64_t>>{"ch_PP-OCRv4_rec_infer.onnx", {1, 3, 48, 64}},
                      std::pair<const char*, std::vector<std::int64_t>>{"ch_ppocr_mobile_v2.0_cls_infer.onnx",
                                                                        {2, 3, 48, 192}}),
    [](const auto& model) {
      return std::string(model.index == 0 ? "det" : model.index == 1 ? "rec" : "cls");
    });

}  // namespace
}  // namespace ridgeline::workload
