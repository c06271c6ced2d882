// SPDX-License-Identifier: Apache-2.0
#include "config/stray_stream_keys.hpp"

#include <gtest/gtest.h>

namespace ridgeline::config {
namespace {

TEST(StrayStreamKeys, are_those_outside_the_section) {
  using Names = std::vector<std::string>;
  struct Row {
    const char* yaml;
    Names stray;
  };
  const Row rows[] = {
      {"batch_size: 8\ninference_scale: 0.65\n", {"batch_size", "inference_scale"}},
      {"stream:\nbatch_size: 8\n", {"batch_size"}},
      {"stream:\n  streams: 2\nbatch_size: 8\n", {"batch_size"}},
      {"preprocess:\n  mean: 0.5\ncrop.most: 3\n", {"preprocess", "crop.most"}},
      {"preprocess: letterbox\ncrop: true\n", {}},
      {"Stream:\n  batch_size: 8\n", {"Stream.batch_size"}},
      {"video:\n  batch_size: 8\n  slo_ms: 60\n", {"video.batch_size", "video.slo_ms"}},
      {"training:\n  batch_size: 64\n", {}},
      {"stream:\n  batch_size: 8\ntraining:\n  batch_size: 64\n", {}},
      {"model: det.onnx\nonnxruntime:\n  intra_op_num_threads: 4\n", {}},
      {"stream: [1]\n", {}},
      {"- batch_size\n", {}},
      {"", {}},
  };
  for (const auto& row : rows) EXPECT_EQ(stray_stream_keys(row.yaml, "a.yaml").value(), row.stray) << row.yaml;
  EXPECT_FALSE(stray_stream_keys("a: [", "a.yaml"));
}

}  // namespace
}  // namespace ridgeline::config
