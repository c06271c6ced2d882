// SPDX-License-Identifier: Apache-2.0
#include "store/record_json.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "schema/measurement.hpp"

namespace ridgeline::store {
namespace {

TEST(RecordJson, reads_back_numbers_that_json_cannot_hold) {
  schema::OutputError output_error;
  output_error.max_abs = std::numeric_limits<double>::infinity();
  output_error.max_rel = std::numeric_limits<double>::quiet_NaN();
  output_error.nonfinite = 3;
  const auto json = parse_record(dump_record(output_error), "output_error");
  ASSERT_TRUE(json) << json.error().message;
  const auto back = base::json_as<schema::OutputError>(*json, "drift");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->max_abs, std::numeric_limits<double>::max());
  EXPECT_EQ(back->max_rel, 0);
  EXPECT_EQ(back->nonfinite, 3);
}

TEST(RecordJson, names_what_it_could_not_parse) {
  const auto json = parse_record("{\"a\":", "trial 12 of database x.db");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().code, base::ErrorCode::corrupt);
  EXPECT_NE(json.error().message.find("trial 12 of database x.db"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::store
