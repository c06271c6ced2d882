// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

namespace ridgeline::base {
enum class Colour { red, blue };
template <>
struct EnumNames<Colour> {
  static constexpr std::array names{std::pair{Colour::red, "red"}, std::pair{Colour::blue, "blue"}};
};
namespace {

TEST(JsonWords, enums_have_names_both_ways) {
  EXPECT_EQ(enum_name(Colour::blue), "blue");
  EXPECT_EQ(enum_from_name<Colour>("red"), Colour::red);
  EXPECT_FALSE(enum_from_name<Colour>("green"));
  EXPECT_EQ(dump_json(Json(Colour::blue)), "\"blue\"");
}

TEST(JsonWords, an_unknown_enum_name_is_a_corrupt_error) {
  const auto colour = json_as<Colour>(Json("green"), "paint");
  ASSERT_FALSE(colour);
  EXPECT_EQ(colour.error().code, ErrorCode::corrupt);
  EXPECT_NE(colour.error().message.find("paint"), std::string::npos);
}

TEST(JsonWords, an_absent_value_is_null) {
  EXPECT_EQ(dump_json(Json(std::optional<int>())), "null");
  EXPECT_EQ(json_as<std::optional<int>>(Json(4), "x").value(), 4);
  EXPECT_FALSE(json_as<std::optional<int>>(Json(nullptr), "x").value());
}

TEST(JsonWords, broken_text_is_an_error_that_names_its_source) {
  const auto json = parse_json("{\"a\":", "worker message");
  ASSERT_FALSE(json);
  EXPECT_NE(json.error().message.find("worker message"), std::string::npos);
}

TEST(JsonWords, keys_are_sorted_and_bad_utf8_is_replaced) {
  EXPECT_EQ(dump_json(Json{{"b", 1}, {"a", 2}}), R"({"a":2,"b":1})");
  EXPECT_EQ(dump_json(Json(std::string("\xff"))), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace ridgeline::base
