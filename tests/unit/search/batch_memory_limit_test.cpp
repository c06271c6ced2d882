// SPDX-License-Identifier: Apache-2.0
#include "search/batch_memory_limit.hpp"

#include <gtest/gtest.h>

#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrialStatus;

BenchProposal of(std::int64_t batch, AmpMode amp = AmpMode::off, DataMode data = DataMode::loader) {
  return {{batch, 2, amp, false}, data, schema::BenchStage::sweep, {}};
}

BenchObservation ended(TrialStatus status) {
  BenchObservation out;
  out.status = status;
  return out;
}

TEST(BatchMemoryLimit, no_larger_batch_is_tried_than_one_that_was_refused) {
  BatchMemoryLimit limit(0.1, true);
  limit.observe(of(128), ended(TrialStatus::ok));
  limit.observe(of(512), ended(TrialStatus::invalid));
  EXPECT_EQ(limit.too_large({1024, 8, AmpMode::off, true}),
            messages::bench_batch_unfit({.batch = 512, .refused = true}));
  EXPECT_TRUE(limit.too_large({512, 0, AmpMode::off, false}));
  EXPECT_FALSE(limit.too_large({256, 2, AmpMode::off, false}));
  EXPECT_FALSE(limit.too_large({1024, 2, AmpMode::bf16, false}));
  limit.observe(of(256), ended(TrialStatus::invalid));
  limit.observe(of(2048), ended(TrialStatus::invalid));
  EXPECT_EQ(limit.too_large({1024, 2, AmpMode::off, false}),
            messages::bench_batch_unfit({.batch = 256, .refused = true}));
}

TEST(BatchMemoryLimit, a_refusal_of_the_loader_alone_counts_and_its_memory_does_not) {
  BatchMemoryLimit limit(0.1, false);
  limit.observe(of(512, AmpMode::off, DataMode::loader_only), ended(TrialStatus::out_of_memory));
  EXPECT_FALSE(limit.too_large({512, 2, AmpMode::off, false}));
  limit.observe(of(512, AmpMode::off, DataMode::loader_only), ended(TrialStatus::invalid));
  EXPECT_TRUE(limit.too_large({512, 2, AmpMode::off, false}));
}

TEST(BatchMemoryLimit, a_refusal_is_not_closed_in_on) {
  BatchMemoryLimit limit(0.1, false);
  limit.observe(of(128), ended(TrialStatus::ok));
  limit.observe(of(512), ended(TrialStatus::invalid));
  EXPECT_FALSE(limit.next_batch(AmpMode::off));
  limit.observe(of(1024, AmpMode::off, DataMode::device), ended(TrialStatus::out_of_memory));
  EXPECT_FALSE(limit.next_batch(AmpMode::off));  // half way lies beyond what was refused
  limit.observe(of(256), ended(TrialStatus::out_of_memory));
  EXPECT_EQ(limit.next_batch(AmpMode::off), 192);
}

TEST(BatchMemoryLimit, other_failures_say_nothing_about_larger_batches) {
  BatchMemoryLimit limit(0.1, false);
  for (const auto status : {TrialStatus::failed, TrialStatus::crashed, TrialStatus::timeout, TrialStatus::unsupported})
    limit.observe(of(64), ended(status));
  EXPECT_FALSE(limit.too_large({64, 2, AmpMode::off, false}));
}

}  // namespace
}  // namespace ridgeline::search
