// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/session_settings.hpp"

#include "schema/catalog.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"

namespace ridgeline::workload {
namespace {

class SessionSettingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto library = OrtLibrary::open("", test_search());
    ASSERT_TRUE(library) << library.error().message;
    environment_ = OrtEnvironment::create(std::move(*library)).value();
  }
  std::unique_ptr<OrtEnvironment> environment_;
};

/// A legal value of every catalogue row.
schema::Value legal_value(const schema::ParamDef& param) {
  if (!param.choices.empty()) return param.choices.back();
  if (param.type == schema::ParamType::integer) return static_cast<std::int64_t>(param.minimum.value_or(1));
  return param.key == "intra_op_thread_affinities" ? schema::Value("1") : schema::Value("text");
}

TEST_F(SessionSettingsTest, every_row_of_the_catalogue_is_applied) {
  for (const auto& param : schema::catalog()) {
    if (!param.providers.empty()) continue;
    for (const auto& value : param.choices.empty() ? std::vector<schema::Value>{legal_value(param)} : param.choices) {
      const auto settings = SessionSettings::make(*environment_, {{param.key, value}}, "cpu");
      ASSERT_TRUE(settings) << settings.error().message;
      const bool has_entry = param.scope == schema::ParamScope::session_config;
      EXPECT_EQ(settings->read_back().count(param.key), has_entry ? 1U : 0U) << param.key;
      if (!has_entry) continue;
      EXPECT_EQ(settings->read_back().at(param.key), ort_text(value)) << param.key;
    }
  }
}

TEST_F(SessionSettingsTest, an_empty_text_leaves_the_entry_unset) {
  const auto settings = SessionSettings::make(*environment_, {{"intra_op_thread_affinities", ""}}, "cpu");
  ASSERT_TRUE(settings);
  EXPECT_TRUE(settings->read_back().empty());
}

TEST_F(SessionSettingsTest, an_illegal_value_or_key_is_named) {
  const auto value = SessionSettings::make(*environment_, {{"intra_op_num_threads", -3}}, "cpu");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(value.error().message.find("intra_op_num_threads=-3"), std::string::npos);
  const auto key = SessionSettings::make(*environment_, {{"enable_mem_patern", true}}, "cpu");
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().hint.find("enable_mem_pattern"), std::string::npos);
}

TEST_F(SessionSettingsTest, values_reach_the_runtime_as_it_spells_them) {
  EXPECT_EQ(ort_text(true), "1");
  EXPECT_EQ(ort_text(false), "0");
  EXPECT_EQ(ort_text(1000), "1000");
  EXPECT_EQ(ort_text("1;2"), "1;2");
}

}  // namespace
}  // namespace ridgeline::workload
