// SPDX-License-Identifier: Apache-2.0
#include "store/store.hpp"
#include "fakes/words.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "sample_records.hpp"
#include "store/sqlite.hpp"

namespace ridgeline::store {
namespace {

template <typename T>
std::string text_of(const T& value) {
  return base::dump_json(value);
}

class StoreFile : public testing::Test {
 protected:
  StoreFile() : store(*Store::open(folder / "deep/er/ridgeline.db")) {}
  TempFolder folder;
  Store store;
};

TEST_F(StoreFile, is_made_no_earlier_than_there_is_something_to_keep_or_to_find) {
  EXPECT_FALSE(std::filesystem::exists(store.path()));
  EXPECT_TRUE(store.list_runs(10)->empty());
  EXPECT_EQ(store.load_run("latest").error().code, base::ErrorCode::not_found);
  EXPECT_EQ(count_trials(store), 0U);
  EXPECT_FALSE(std::filesystem::exists(store.path()));
  ASSERT_TRUE(store.save_trial(make_spec(1), make_outcome()));
  EXPECT_TRUE(std::filesystem::exists(store.path()));
  EXPECT_EQ(count_trials(store), 1U);
}

TEST_F(StoreFile, tells_what_other_models_taught_of_a_device) {
  EXPECT_TRUE(store.learned("gpu:a", "cuda", "resnet")->empty());
  EXPECT_FALSE(std::filesystem::exists(store.path()));
  ASSERT_TRUE(store.learn("gpu:a", "cuda", "resnet", {4e-4, 10, {{"prefer_nhwc", {0.1, 1}}}}));
  ASSERT_TRUE(store.learn("gpu:a", "cuda", "resnet", {1e-4, 30, {{"prefer_nhwc", {0.4, 2}}}}));
  ASSERT_TRUE(store.learn("gpu:a", "cuda", "bert", {2e-4, 40, {}}));
  ASSERT_TRUE(store.learn("gpu:b", "cuda", "bert", {9e-4, 99, {}}));
  ASSERT_TRUE(store.learn("gpu:a", "tensorrt", "bert", {9e-4, 99, {}}));
  const auto of_resnet = store.learned("gpu:a", "cuda", "bert").value();
  EXPECT_DOUBLE_EQ(of_resnet.session_variance, 1.75e-4);
  EXPECT_DOUBLE_EQ(of_resnet.effects.at("prefer_nhwc").mean, 0.3);
  EXPECT_DOUBLE_EQ(store.learned("gpu:a", "cuda", "resnet")->session_variance, 2e-4);
  EXPECT_DOUBLE_EQ(store.learned("gpu:a", "cuda", "swin")->session_freedom, 80);
  EXPECT_TRUE(store.learned("gpu:c", "cuda", "swin")->empty());
}

TEST_F(StoreFile, returns_a_trial_as_it_was_saved) {
  const auto spec = make_spec(4);
  const auto outcome = make_outcome(500);
  ASSERT_TRUE(store.save_trial(spec, outcome));
  const auto found = store.find_trial(spec.key());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(*found);
  EXPECT_EQ(text_of((*found)->spec), text_of(spec));
  EXPECT_EQ(text_of((*found)->outcome), text_of(outcome));
  EXPECT_EQ((*found)->spec.key(), spec.key());
}

TEST_F(StoreFile, knows_nothing_of_a_trial_with_another_content) {
  ASSERT_TRUE(store.save_trial(make_spec(4), make_outcome()));
  EXPECT_FALSE(*store.find_trial(make_spec(5).key()));
  auto other_version = make_spec(4);
  other_version.runtime.version = "1.30.0";
  EXPECT_FALSE(*store.find_trial(other_version.key()));
  auto other_path = make_spec(4);
  other_path.workload.location = "/elsewhere/det.onnx";
  EXPECT_TRUE(*store.find_trial(other_path.key()));
}

TEST_F(StoreFile, replaces_a_trial_with_its_samples) {
  const auto spec = make_spec(4);
  ASSERT_TRUE(store.save_trial(spec, make_outcome(500)));
  schema::TrialOutcome failed;
  failed.status = schema::TrialStatus::crashed;
  failed.failure = schema::Failure{};
  failed.failure->signal = 11;
  failed.failure->message = fakes::legacy("the worker died by signal 11");
  ASSERT_TRUE(store.save_trial(spec, failed));
  auto found = *store.find_trial(spec.key());
  ASSERT_TRUE(found);
  EXPECT_EQ(text_of(found->outcome), text_of(failed));
  ASSERT_TRUE(store.save_trial(spec, make_outcome(3)));
  found = *store.find_trial(spec.key());
  EXPECT_EQ(found->outcome.measurement->latency_ns.size(), 3U);
  EXPECT_EQ(count_trials(store), 1U);
}

TEST_F(StoreFile, keeps_what_a_finished_run_measured_when_the_trial_is_measured_again) {
  const auto spec = make_spec(4);
  const auto measured = [&](int samples, const std::string& utc) {
    auto outcome = make_outcome(samples);
    outcome.measured_utc = utc;
    const auto saved = store.save_trial(spec, outcome);
    ASSERT_TRUE(saved) << saved.error().message;
  };
  const auto samples_of = [&](std::string_view as_of) {
    const auto found = *store.find_trial(spec.key(), as_of);
    return found ? found->outcome.measurement->latency_ns.size() : 0;
  };
  auto run = make_run("a", "2026-07-01T08:00:00Z");
  run.finished_utc = "2026-07-01T10:00:00Z";
  ASSERT_TRUE(store.save_run(schema::to_run(run)));
  measured(3, "2026-07-01T09:00:00Z");
  measured(5, "2026-07-02T09:00:00Z");
  measured(7, "2026-07-02T09:01:00Z");  // no run finished between these two
  EXPECT_EQ(samples_of(""), 7U);
  EXPECT_EQ(samples_of("2026-07-03T00:00:00Z"), 7U);
  EXPECT_EQ(samples_of(run.finished_utc), 3U);
  EXPECT_EQ(samples_of("2026-06-01T00:00:00Z"), 0U);
  EXPECT_EQ(count_trials(store), 2U);
}

TEST_F(StoreFile, keeps_a_measurement_without_samples) {
  ASSERT_TRUE(store.save_trial(make_spec(4), make_outcome(0)));
  const auto found = *store.find_trial(make_spec(4).key());
  ASSERT_TRUE(found && found->outcome.measurement);
  EXPECT_TRUE(found->outcome.measurement->latency_ns.empty());
}

TEST_F(StoreFile, returns_a_pair_with_the_samples_of_every_block) {
  schema::PairedSpec spec;
  spec.base = make_spec(4);
  spec.other.set("intra_op_num_threads", 8);
  schema::PairedOutcome outcome;
  outcome.measured_utc = "2026-11-21T08:15:00Z";
  outcome.measurement = schema::PairedMeasurement{};
  for (const char arm : std::string("ABBABAAB"))
    outcome.measurement->blocks.push_back({arm, {1e6 + arm, 2e6, 3.5}, 4e6});
  ASSERT_TRUE(store.save_pair(spec, outcome));
  const auto found = store.find_pair(spec.key());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(*found);
  EXPECT_EQ(text_of((*found)->spec), text_of(spec));
  EXPECT_EQ(text_of((*found)->outcome), text_of(outcome));

  outcome.measurement->blocks.resize(4);  // fewer blocks replace more
  ASSERT_TRUE(store.save_pair(spec, outcome));
  EXPECT_EQ((*store.find_pair(spec.key()))->outcome.measurement->blocks.size(), 4U);
  outcome.measurement.reset();
  outcome.status = schema::TrialStatus::timeout;
  ASSERT_TRUE(store.save_pair(spec, outcome));
  EXPECT_FALSE((*store.find_pair(spec.key()))->outcome.measurement);
  EXPECT_FALSE(*store.find_pair("none"));
}

TEST_F(StoreFile, returns_a_run_as_it_was_saved_last) {
  auto run = make_run("20261121-081500-3f2a", "2026-11-21T08:15:00Z");
  ASSERT_TRUE(store.save_run(schema::to_run(run)));
  run.finished_utc = "2026-11-21T08:25:00Z";
  run.duration_s = 600;
  run.verdict = schema::TuneVerdict{};
  run.verdict->decision = schema::Decision::change;
  run.verdict->gain = schema::Comparison{};
  run.verdict->gain->ratio = 1.37;
  ASSERT_TRUE(store.save_run(schema::to_run(run)));
  const auto loaded = store.load<schema::TuneRun>(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(text_of(*loaded), text_of(run));
  const auto runs = *store.list_runs(10);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].id, run.id);
  EXPECT_EQ(runs[0].kind, "tune");
  EXPECT_EQ(runs[0].line.subject, "det.onnx");
  EXPECT_EQ(runs[0].line.provider, "cpu");
  EXPECT_EQ(runs[0].line.objective, "latency");
  EXPECT_EQ(runs[0].trials, 2);
  EXPECT_EQ(runs[0].line.decision, "change");
  EXPECT_EQ(runs[0].line.value, 1.37);
  EXPECT_EQ(runs[0].duration_s, 600);
  EXPECT_TRUE(runs[0].finished);
}

TEST_F(StoreFile, lists_runs_newest_first_up_to_a_limit) {
  for (const int day : {12, 10, 14, 11})
    ASSERT_TRUE(store.save_run(
        schema::to_run(make_run(fmt::format("202611{}-000000-aaaa", day), fmt::format("2026-11-{}T00:00:00Z", day)))));
  auto synthetic = make_run("20261113-000000-aaaa", "2026-11-13T00:00:00Z");
  synthetic.workload.kind = "synthetic";
  synthetic.workload.location = "noise=0.1";
  ASSERT_TRUE(store.save_run(schema::to_run(synthetic)));
  const auto runs = *store.list_runs(3);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].id, "20261114-000000-aaaa");
  EXPECT_EQ(runs[1].line.subject, "synthetic:noise=0.1");
  EXPECT_EQ(runs[2].id, "20261112-000000-aaaa");
  EXPECT_FALSE(runs[0].finished);
  EXPECT_EQ(runs[0].line.decision, "");
  EXPECT_FALSE(runs[0].line.value);
  EXPECT_EQ(store.list_runs(SIZE_MAX)->size(), 5U);
}

TEST_F(StoreFile, finds_a_run_by_prefix_and_as_the_latest) {
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("20261121-081500-3f2a", "2026-11-21T08:15:00Z"))));
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("20261121-091500-77aa", "2026-11-21T09:15:00Z"))));
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("20261121-09", "2026-11-20T09:15:00Z"))));
  EXPECT_EQ(store.load_run("20261121-08")->id, "20261121-081500-3f2a");
  EXPECT_EQ(store.load_run("latest")->id, "20261121-091500-77aa");
  EXPECT_EQ(store.load_run("20261121-09")->id, "20261121-09");  // whole, though a prefix of another
}

// The end of an id is chance, and scripts start several runs a second.
TEST_F(StoreFile, the_latest_of_two_runs_of_one_second_is_the_one_saved_last) {
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("20261121-081500-ffff", "2026-11-21T08:15:00Z"))));
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("20261121-081500-0000", "2026-11-21T08:15:00Z"))));
  EXPECT_EQ(store.load_run("latest")->id, "20261121-081500-0000");
}

TEST_F(StoreFile, explains_a_run_that_it_cannot_name) {
  auto missing = store.load_run("latest");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::not_found);
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("20261121-081500-3f2a", "2026-11-21T08:15:00Z"))));
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("20261121-091500-77aa", "2026-11-21T09:15:00Z"))));

  missing = store.load_run("20261121-081500-3f2b");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::not_found);
  EXPECT_NE(missing.error().hint.find("did you mean \"20261121-081500-3f2a\"?"), std::string::npos)
      << missing.error().message;

  missing = store.load_run("xyz");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().hint.find("the latest is 20261121-091500-77aa"), std::string::npos)
      << missing.error().message;

  const auto ambiguous = store.load_run("202611");
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(ambiguous.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(ambiguous.error().message.find("20261121-091500-77aa, 20261121-081500-3f2a"), std::string::npos);
  EXPECT_EQ(store.load_run("").error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(store.load_run("2%").error().code, base::ErrorCode::not_found);  // no pattern characters
}

TEST_F(StoreFile, keeps_everything_when_reopened) {
  ASSERT_TRUE(store.save_trial(make_spec(4), make_outcome()));
  const auto path = store.path();
  store = *Store::open(path);
  EXPECT_EQ(count_trials(store), 1U);
  EXPECT_TRUE(*store.find_trial(make_spec(4).key()));
}

TEST_F(StoreFile, stores_text_that_is_not_utf8) {
  schema::TrialOutcome outcome;
  outcome.status = schema::TrialStatus::crashed;
  outcome.failure = schema::Failure{};
  outcome.failure->stderr_tail = std::string("bad \xff\xfe bytes \0 here", 19);
  ASSERT_TRUE(store.save_trial(make_spec(1), outcome));
  const auto found = store.find_trial(make_spec(1).key());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NE((*found)->outcome.failure->stderr_tail.find("here"), std::string::npos);
}

TEST_F(StoreFile, names_a_damaged_record) {
  const auto spec = make_spec(4);
  ASSERT_TRUE(store.save_trial(spec, make_outcome()));
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("r1", "2026-11-21T08:15:00Z"))));
  {
    const auto connection = *Connection::open(store.path(), std::chrono::seconds(1));
    ASSERT_TRUE(
        connection->execute("UPDATE samples SET samples = x'0105'; UPDATE run_records SET record = '{\"id\":7}'"));
  }
  const auto found = store.find_trial(spec.key());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::ErrorCode::corrupt);
  EXPECT_NE(found.error().message.find(spec.key()), std::string::npos);
  const auto run = store.load_run("r1");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, base::ErrorCode::corrupt);
}

TEST_F(StoreFile, reads_no_samples_when_it_lists_and_counts) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store.save_trial(make_spec(i), make_outcome()));
  ASSERT_TRUE(store.save_run(schema::to_run(make_run("r1", "2026-11-21T08:15:00Z"))));
  const auto connection = *Connection::open(store.path(), std::chrono::seconds(1));
  ASSERT_TRUE(connection->execute("DROP TABLE samples; DROP TABLE run_records"));
  EXPECT_EQ(store.list_runs(10)->size(), 1U);
  EXPECT_EQ(count_trials(store), 20U);
}

}  // namespace
}  // namespace ridgeline::store
