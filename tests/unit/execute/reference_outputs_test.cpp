// SPDX-License-Identifier: Apache-2.0
#include "execute/reference_outputs.hpp"

#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fakes/words.hpp"

namespace ridgeline::execute {
namespace {

/// The value of the output in call `call` (from 0) of session `session`.
using Value = std::function<float(int session, int call)>;

class CountedWorkload final : public workload::Workload {
 public:
  CountedWorkload(Value value, int session) : value_(std::move(value)), session_(session) {}
  base::Result<void> prepare() override { return {}; }
  schema::TrialPhase phase() const noexcept override { return schema::TrialPhase::measure; }
  base::Nanoseconds session_create_time() const noexcept override { return {}; }
  int concurrency() const noexcept override { return 1; }
  double items_per_step() const noexcept override { return 1; }
  bool step(int) noexcept override { return true; }
  base::Error last_error(int) const override { return {}; }
  base::Result<void> run_once() override {
    ++calls_;
    return {};
  }
  base::Result<workload::OutputSet> outputs() override {
    const float value = value_(session_, calls_++);
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return workload::OutputSet{{"y", "float", {1}, std::move(bytes)}, {"fixed", "int64", {1}, std::string(8, '\1')}};
  }

 private:
  Value value_;
  int session_;
  int calls_ = 0;
};

class ReferenceOutputsTest : public ::testing::Test {
 protected:
  ReferenceOutputs made(const Value& value) {
    sessions_ = 0;
    auto reference = make_reference_outputs([&]() -> base::Result<std::unique_ptr<workload::Workload>> {
      return std::make_unique<CountedWorkload>(value, sessions_++);
    });
    EXPECT_TRUE(reference);
    return reference.value_or(ReferenceOutputs{});
  }
  schema::OutputError compared(const workload::OutputSet& reference, const Value& value) {
    CountedWorkload workload(value, 99);
    return compare_with_reference(workload, reference).value_or(schema::OutputError{});
  }
  int sessions_ = 0;
  base::Random random_{3};
};

TEST_F(ReferenceOutputsTest, of_what_is_the_same_in_each_call_take_two_sessions) {
  const auto reference = made([](int, int) { return 4.0F; });
  EXPECT_EQ(sessions_, 2);
  EXPECT_FALSE(reference.noise.variation);
  EXPECT_FALSE(compared(reference.outputs, [](int, int) { return 5.0F; }).spread);
  EXPECT_DOUBLE_EQ(compared(reference.outputs, [](int, int) { return 5.0F; }).scaled_max_abs, 0.25);
}

TEST_F(ReferenceOutputsTest, of_random_numbers_have_a_spread_by_which_trials_are_judged) {
  const auto normal = [&](int, int) { return static_cast<float>(random_.normal()); };
  const auto reference = made(normal);
  ASSERT_TRUE(reference.noise.variation);
  EXPECT_EQ(reference.noise.variation->outputs, std::vector<std::string>{"y"});
  EXPECT_GE(reference.noise.variation->calls, 8);
  EXPECT_FALSE(reference.noise.variation->repeats);
  EXPECT_EQ(fakes::text_of(reference.noise.variation->trend), "");
  EXPECT_EQ(reference.noise.scaled_max_abs, 0) << "of the other output";
  const auto right = compared(reference.outputs, normal);
  ASSERT_TRUE(right.spread);
  EXPECT_LT(right.spread->distance, 6);
  EXPECT_EQ(right.scaled_max_abs, 0);
  EXPECT_GT(
      compared(reference.outputs, [&](int, int) { return static_cast<float>(random_.normal() + 20); }).spread->distance,
      20);
}

TEST_F(ReferenceOutputsTest, of_a_seed_repeat_in_each_session_and_are_random_all_the_same) {
  const auto seeded = [](int, int call) {
    base::Random random(static_cast<std::uint64_t>(call) + 11);
    return static_cast<float>(random.normal());
  };
  const auto reference = made(seeded);
  ASSERT_TRUE(reference.noise.variation);
  EXPECT_TRUE(reference.noise.variation->repeats);
  EXPECT_EQ(fakes::text_of(reference.noise.variation->trend), "");
}

TEST_F(ReferenceOutputsTest, of_state_are_told_by_their_trend) {
  const auto reference = made([](int, int call) { return static_cast<float>(call); });
  ASSERT_TRUE(reference.noise.variation);
  EXPECT_NE(fakes::text_of(reference.noise.variation->trend).find("output \"y\" grows with each call"),
            std::string::npos);
}

}  // namespace
}  // namespace ridgeline::execute
