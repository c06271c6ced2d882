// SPDX-License-Identifier: Apache-2.0
#include "schema/catalog.hpp"

#include <gtest/gtest.h>

#include <set>

#include "schema/objective.hpp"

namespace ridgeline::schema {
namespace {

TEST(Catalog, rows_are_complete_and_consistent) {
  std::set<std::string> keys;
  for (const auto& row : catalog()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key << " twice";
    EXPECT_FALSE(row.target.empty()) << row.key;
    EXPECT_FALSE(row.summary.empty()) << row.key;
    EXPECT_FALSE(row.when.empty()) << row.key;
    EXPECT_FALSE(row.hazard.empty()) << row.key;
    if (row.type == ParamType::choice || row.type == ParamType::boolean) {
      EXPECT_FALSE(row.choices.empty()) << row.key;
    }
    if (row.default_value) {
      EXPECT_TRUE(check_value(row, *row.default_value)) << row.key;
    }
    for (const auto& choice : row.choices) EXPECT_TRUE(check_value(row, choice)) << row.key;
  }
}

TEST(Catalog, settings_are_parsed_by_the_row_s_type) {
  EXPECT_EQ(parse_setting("intra_op_num_threads=4")->second, Value(4));
  EXPECT_EQ(parse_setting("enable_mem_pattern=off")->second, Value(false));
  EXPECT_EQ(parse_setting("execution_mode=parallel")->second, Value("parallel"));
}

TEST(Catalog, a_wrong_setting_names_the_nearest_right_one) {
  const auto key = parse_setting("intra_op_threads=4");
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().hint.find("intra_op_num_threads"), std::string::npos) << key.error().hint;
  const auto value = parse_setting("execution_mode=paralel");
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().hint.find("\"parallel\""), std::string::npos) << value.error().hint;
  for (const auto* text : {"intra_op_num_threads=-1", "intra_op_num_threads=1e99", "intra_op_num_threads=", "=4", "x",
                           "intra_op_num_threads=99999999999999999999"})
    EXPECT_FALSE(parse_setting(text)) << text;
}

TEST(Catalog, a_release_has_what_came_before_it_and_did_not_go) {
  EXPECT_TRUE(is_known_to(*find_param("dynamic_block_base"), "1.19.2"));
  EXPECT_FALSE(is_known_to(*find_param("intra_op_spin_duration_us"), "1.24.1"));
  EXPECT_TRUE(is_known_to(*find_param("intra_op_spin_duration_us"), "1.27.0"));
  EXPECT_FALSE(is_known_to(*find_param("trt_bf16_enable"), "1.22.0"));
  EXPECT_TRUE(is_known_to(*find_param("openvino_num_of_threads"), "1.22.2"));
  EXPECT_FALSE(is_known_to(*find_param("openvino_num_of_threads"), "1.23.0"));
  EXPECT_FALSE(is_known_to(*find_param("use_cuda_mempool"), "1.23.2"));
}

TEST(Constraint, reads_metric_relation_and_bound) {
  const auto constraint = parse_constraint("latency_p99_ms <= 20");
  ASSERT_TRUE(constraint);
  EXPECT_EQ(constraint->to_text(), "latency_p99_ms<=20");
  const auto wrong = parse_constraint("latency_p98_ms<=20");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("latency_p99_ms"), std::string::npos);
  EXPECT_FALSE(parse_constraint("latency_p99_ms<20"));
  EXPECT_FALSE(parse_constraint("latency_p99_ms<=fast"));
}

TEST(Constraint, takes_short_names_and_units) {
  for (const auto& [text, meant] : {std::pair{"p99<=20ms", "latency_p99_ms<=20"},
                                    {"p99 <= 0.02 s", "latency_p99_ms<=20"},
                                    {"median<=500us", "latency_median_ms<=0.5"},
                                    {"p90<=20", "latency_p90_ms<=20"},
                                    {"latency_p99_ms<=20ms", "latency_p99_ms<=20"},
                                    {"throughput>=30fps", "throughput_per_s>=30"},
                                    {"peak_rss_mb<=2GB", "peak_rss_mb<=2000"},
                                    {"gpu_memory<=500MB", "gpu_memory_gb<=0.5"},
                                    {"p99<=1e1ms", "latency_p99_ms<=10"}}) {
    const auto constraint = parse_constraint(text);
    ASSERT_TRUE(constraint) << text << ": " << constraint.error().message;
    EXPECT_EQ(constraint->to_text(), meant) << text;
  }
  const auto wrong = parse_constraint("p99<=20MB");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("\"MB\" is no unit of latency_p99_ms; expected ms, us"), std::string::npos)
      << wrong.error().message;
  for (const auto* text : {"p99<=", "p99<=ms", "p99<=0ms", "p99<=-1ms", "p99<=1 2ms", "p99<=nan"})
    EXPECT_FALSE(parse_constraint(text)) << text;
}

}  // namespace
}  // namespace ridgeline::schema
