// SPDX-License-Identifier: Apache-2.0
#include "schema/suggestion.hpp"

#include <gtest/gtest.h>

#include "schema/execution_provider.hpp"
#include "schema/metric_def.hpp"

namespace ridgeline::schema {
namespace {

TEST(Suggestion, knows_what_others_call_it) {
  const auto providers = provider_ids();
  EXPECT_EQ(suggest("gpu", providers), "did you mean \"cuda\"?");
  EXPECT_EQ(suggest("CUDA", providers), "did you mean \"cuda\"?");
  EXPECT_EQ(suggest("CUDAExecutionProvider", providers), "did you mean \"cuda\"?");
  EXPECT_EQ(suggest("trt", providers), "did you mean \"tensorrt\"?");
  EXPECT_EQ(suggest("cdua", providers), "did you mean \"cuda\"?");
  EXPECT_EQ(suggest("fps", {"latency", "p99", "throughput"}), "did you mean \"throughput\"?");
  EXPECT_EQ(suggest("speed", {"latency", "p99", "throughput"}), "did you mean \"latency\"?");
  EXPECT_EQ(suggest("gpu", {"host", "device"}), "did you mean \"device\"?");
  EXPECT_EQ(suggest("bfloat16", {"fp32", "auto", "fp16", "bf16"}), "did you mean \"bf16\"?");
}

TEST(Suggestion, takes_parts_of_words_and_guesses_nothing_else) {
  EXPECT_EQ(suggest("memory_gb", {"gpu_memory_gb", "latency"}), "did you mean \"gpu_memory_gb\"?");
  EXPECT_EQ(suggest("work", {"num_workers", "workload"}), "did you mean \"num_workers\" or \"workload\"?");
  EXPECT_EQ(suggest("nonsense", {"latency", "p99"}), "");
  EXPECT_EQ(suggest("", {"latency", "p99"}), "");
  EXPECT_EQ(suggest("xy", {"a-xy-b"}), "") << "two letters are a part of anything";
}

TEST(Metric, goes_by_its_short_names) {
  for (const auto& [name, key] : {std::pair{"p99", "latency_p99_ms"},
                                  {"p50", "latency_p50_ms"},
                                  {"median", "latency_median_ms"},
                                  {"latency", "latency_median_ms"},
                                  {"latency_p90", "latency_p90_ms"},
                                  {"p95_ms", "latency_p95_ms"},
                                  {"throughput", "throughput_per_s"},
                                  {"peak_rss", "peak_rss_mb"},
                                  {"compile", "compile_s"}}) {
    const auto* metric = find_metric_called(name);
    ASSERT_NE(metric, nullptr) << name;
    EXPECT_EQ(metric->key, key);
  }
  EXPECT_EQ(find_metric_called("latency_p99_s"), nullptr);
  EXPECT_EQ(find_metric_called(""), nullptr);
  EXPECT_EQ(find_metric_called("ms"), nullptr);
}

}  // namespace
}  // namespace ridgeline::schema
