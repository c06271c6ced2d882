// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "execute/child_clock.hpp"
#include "execute/json_child.hpp"
#include "workload/workload.hpp"

namespace ridgeline::execute {

/// What "prepare" asks for, of a spec. Errors: a setting that is none of a PyTorch model's.
[[nodiscard]] base::Result<base::Json> prepare_request(const schema::TrialSpec& spec);
/// Under which a process that has prepared that stands ready (python/ridgeline_infer/ahead.py).
[[nodiscard]] std::string ahead_key(const base::Json& prepare_request);

/// A PyTorch model of the user's in a Python process of its own (python/ridgeline_infer), which times its calls itself:
/// from before the call until the device is done with it. Messages beside those of JsonChild:
///   {"op":"prepare","target":T,"settings":{..},"seed":N,"io":"host"|"device"} ->
///     {"make_s":..,"compile_s":..,"cold_cache":..,"cache_hits":N,"compiled_anew":..,"items":..,"notes":[..],
///      "pid":..}
///   {"op":"call","count":N,"one_wait":true}              -> {"ns":[..]}; one_wait: only after the last of them
///   {"op":"outputs","path":FILE}                         -> {"sets":[[{"name","element_type","dims","bytes"}..]..],
///                                                            "metric":NUMBER or null,"metric_not_finite":true}
///   {"op":"proof"}                                       -> what was in effect: {"settings":{..},"problems":[..],
///                                                           "compiled_frames":N,"graph_breaks":N,
///                                                           "break_reasons":[..],"recompiles":N,
///                                                           "graph_captured":..,"sdpa":"flash"}
class PythonWorkload final : public workload::Workload {
 public:
  PythonWorkload(JsonChildOptions child, schema::TrialSpec spec);
  /// Lets a process that others are to go on with end its part by itself; others are killed.
  ~PythonWorkload() override;
  PythonWorkload(const PythonWorkload&) = delete;
  PythonWorkload& operator=(const PythonWorkload&) = delete;

  /// Errors beside those of Workload: unsupported where it ran otherwise than the settings say (PyTorch goes on without
  /// compiled code where it cannot compile).
  [[nodiscard]] base::Result<void> prepare() override;
  [[nodiscard]] schema::TrialPhase phase() const noexcept override { return phase_.load(); }
  [[nodiscard]] base::Nanoseconds session_create_time() const noexcept override { return create_time_; }
  [[nodiscard]] int concurrency() const noexcept override { return 1; }
  [[nodiscard]] double items_per_step() const noexcept override { return items_; }
  [[nodiscard]] bool step(int caller) noexcept override;
  [[nodiscard]] base::Result<void> run_once() override;
  [[nodiscard]] base::Error last_error(int /*caller*/) const override { return error_; }
  [[nodiscard]] const base::Clock& clock() const noexcept override { return clock_; }
  [[nodiscard]] base::Result<workload::OutputSet> outputs() override;
  [[nodiscard]] std::optional<double> metric() const override { return metric_; }
  [[nodiscard]] std::int64_t repeated_rows() const noexcept override { return rows_; }
  [[nodiscard]] std::map<std::string, std::string> effective_settings() const override { return effective_; }
  [[nodiscard]] std::vector<schema::QualityFlag> flags() const override;
  /// compile_s, where something was compiled or captured.
  [[nodiscard]] std::map<std::string, double> metrics() const override { return metrics_; }
  [[nodiscard]] schema::RanOn ran_on() const override { return {{spec_.runtime.library_path}, {}, 0}; }
  [[nodiscard]] std::int64_t outside_peak_rss_bytes() const override;
  [[nodiscard]] std::int64_t outside_process() const override { return child_.is_running() ? process_ : 0; }

 private:
  [[nodiscard]] base::Result<base::Json> ask(const base::Json& request, double limit_s);
  [[nodiscard]] base::Result<void> check_proof();
  /// The next calls, into made_: several where they are short or there is to be one wait for all.
  [[nodiscard]] base::Result<void> make_calls();

  schema::TrialSpec spec_;
  JsonChild child_;
  ChildClock clock_;
  std::atomic<schema::TrialPhase> phase_{schema::TrialPhase::load_runtime};
  base::Nanoseconds create_time_{0};
  pid_t process_ = -1;  ///< that makes the calls
  bool kept_ = false;   ///< by the server that has prepared it
  base::Error error_{base::ErrorCode::internal, "", ""};
  double items_ = 1;
  std::int64_t rows_ = 0;           ///< of a batch that was asked for
  std::vector<std::int64_t> made_;  ///< calls that were made together, in nanoseconds each
  std::size_t told_ = 0;            ///< steps of them so far
  base::Nanoseconds last_step_{0};
  std::optional<double> metric_;
  std::map<std::string, std::string> effective_;
  std::vector<schema::QualityFlag> flags_;
  std::vector<schema::QualityFlag> seen_;  ///< the last proof's
  std::map<std::string, double> metrics_;
};

}  // namespace ridgeline::execute
