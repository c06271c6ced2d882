// SPDX-License-Identifier: Apache-2.0
#include "search/constraint_expression.hpp"

#include <gtest/gtest.h>

namespace ridgeline::search {
namespace {

using schema::Configuration;

bool holds(const std::string& text, const Configuration& configuration) {
  const auto expression = ConstraintExpression::parse(text);
  EXPECT_TRUE(expression) << (expression ? "" : expression.error().message);
  return expression && expression->holds(configuration, {{"intra_op_num_threads", 6}});
}

std::string error_of(const std::string& text) {
  const auto expression = ConstraintExpression::parse(text);
  return expression ? "" : base::error_line(expression.error());
}

TEST(ConstraintExpression, multiplication_binds_tighter_than_addition) {
  const Configuration configuration{{"intra_op_num_threads", 3}, {"parallel_sessions", 2}};
  EXPECT_TRUE(holds("intra_op_num_threads * parallel_sessions + 1 == 7", configuration));
  EXPECT_TRUE(holds("1 + intra_op_num_threads*parallel_sessions<=7", configuration));
  EXPECT_FALSE(holds("2 * intra_op_num_threads > parallel_sessions + 4", configuration));
  EXPECT_TRUE(holds("intra_op_num_threads != 2.5", configuration));
  EXPECT_TRUE(holds("intra_op_num_threads >= parallel_sessions", configuration));
  EXPECT_FALSE(holds("intra_op_num_threads < 3", configuration));
}

TEST(ConstraintExpression, unset_settings_count_as_the_default_and_automatic_threads_as_what_they_become) {
  EXPECT_TRUE(holds("parallel_sessions == 1", {}));
  EXPECT_TRUE(holds("intra_op_num_threads == 6", {}));
  EXPECT_TRUE(holds("execution_mode == sequential", {}));
}

TEST(ConstraintExpression, named_values_compare_by_equality) {
  EXPECT_FALSE(holds("execution_mode != parallel", {{"execution_mode", "parallel"}}));
  EXPECT_TRUE(holds("enable_mem_pattern == false", {{"enable_mem_pattern", false}}));
}

TEST(ConstraintExpression, errors_name_the_text_and_the_way_out) {
  EXPECT_NE(error_of("intra_op_threads <= 8").find("intra_op_num_threads"), std::string::npos);
  EXPECT_NE(error_of("intra_op_num_threads 8").find("no relation"), std::string::npos);
  EXPECT_NE(error_of("intra_op_num_threads <=").find("ends where"), std::string::npos);
  EXPECT_NE(error_of("intra_op_num_threads <= 8 / 2").find("left over"), std::string::npos);
  EXPECT_NE(error_of("1 <= 2").find("names no parameter"), std::string::npos);
  EXPECT_NE(error_of("execution_mode <= 2").find("no number"), std::string::npos);
  EXPECT_NE(error_of("execution_mode == paralel").find("parallel"), std::string::npos);
  EXPECT_NE(error_of("2 * execution_mode <= 2").find("no number"), std::string::npos);
  EXPECT_NE(error_of("").find("ends where"), std::string::npos);
  EXPECT_NE(error_of("1x * parallel_sessions <= 2").find("constraint"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::search
