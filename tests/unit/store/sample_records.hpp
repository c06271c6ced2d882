// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "fakes/words.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "schema/tune_run.hpp"
#include "store/sqlite.hpp"
#include "store/store.hpp"

namespace ridgeline::store {

/// A folder of its own below the system's temporary one, removed at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ridgeline-store-XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

inline schema::TrialSpec make_spec(int number) {
  schema::TrialSpec spec;
  spec.workload = {"onnx", "/models/det.onnx", "abc", {{{"x", {1, 3, 640, 640}}}}, {}, 7};
  spec.device = "cpu:test/4";
  spec.runtime.name = "onnxruntime";
  spec.runtime.version = "1.29.0";
  spec.configuration.set("intra_op_num_threads", number);
  spec.plan.runs = 30;
  return spec;
}

inline schema::TrialOutcome make_outcome(std::size_t samples = 20) {
  schema::TrialOutcome outcome;
  schema::Measurement measurement;
  for (std::size_t i = 0; i < samples; ++i) measurement.latency_ns.push_back(1e6 + static_cast<double>(i * 37 % 1000));
  measurement.wall_ns = 2e7;
  measurement.stop_reason = schema::StopReason::interval_reached;
  measurement.flags = {{schema::FlagLevel::notice, "not_steady", fakes::legacy("still changing")}};
  measurement.effective_settings = {{"intra_op_num_threads", "4"}};
  outcome.measurement = measurement;
  outcome.output_error = schema::OutputError{};
  outcome.measured_utc = "2026-11-21T08:15:00Z";
  outcome.duration_s = 1.25;
  return outcome;
}

inline schema::TuneRun make_run(const std::string& id, const std::string& started_utc) {
  schema::TuneRun run;
  run.id = id;
  run.started_utc = started_utc;
  run.workload = make_spec(1).workload;
  run.device = "cpu:test/4";
  schema::TunedTrial trial;
  trial.id = 1;
  trial.key = make_spec(1).key();
  run.trials = {trial, trial};
  return run;
}

/// Trials of tune in the store's file; 0 where there is none.
inline std::size_t count_trials(const Store& store) {
  if (!std::filesystem::exists(store.path())) return 0;
  const auto connection = *Connection::open(store.path(), std::chrono::seconds(10));
  return static_cast<std::size_t>(*connection->query_integer("SELECT count(*) FROM trials WHERE kind = 'trial'"));
}

}  // namespace ridgeline::store
