// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "schema/model_description.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::workload {

/// What is known of a reference's output that changes from call to call. See SpreadCollector.
struct OutputSpread {
  std::vector<double> centre;  ///< mean of each value over some calls; empty: their number changes too
  std::vector<double> calls;   ///< statistics of other calls, one call after the other
};

/// Outputs of one inference per shape set, in the binary form that `compare_outputs` reads.
struct NamedTensor {
  std::string name;
  std::string element_type;
  std::vector<std::int64_t> dims;
  std::string bytes;
  std::optional<OutputSpread> spread{};  ///< of an output that is judged by it
};
using OutputSet = std::vector<NamedTensor>;

/// Something that can be timed: built by a factory from a TrialSpec inside a worker process. Life: prepare once, then
/// step many times from `concurrency()` threads (caller i only from one thread), then outputs.
/// Errors by cause: out_of_memory, unsupported (operator, type, opset), invalid_argument (illegal setting),
/// unavailable (no runtime library), everything else internal or io.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Loads the runtime, creates sessions and inputs. Called once.
  [[nodiscard]] virtual base::Result<void> prepare() = 0;
  /// Which part of prepare is under way, for the classification of a death inside it. Any thread.
  [[nodiscard]] virtual schema::TrialPhase phase() const noexcept = 0;
  /// Time prepare spent on creating sessions.
  [[nodiscard]] virtual base::Nanoseconds session_create_time() const noexcept = 0;
  [[nodiscard]] virtual int concurrency() const noexcept = 0;
  [[nodiscard]] virtual double items_per_step() const noexcept = 0;
  /// What a caller has to do on the thread that will step it, before the first step there: one caller at a time, while
  /// none steps. False when it failed: see last_error.
  [[nodiscard]] virtual bool enter_thread(int /*caller*/) noexcept { return true; }
  /// One inference. Hot: allocates nothing of ours, logs nothing. False when it failed: see last_error.
  [[nodiscard]] virtual bool step(int caller) noexcept = 0;
  [[nodiscard]] virtual base::Error last_error(int caller) const = 0;
  /// The clock to time it with: the system's, or a virtual one for synthetic landscapes.
  [[nodiscard]] virtual const base::Clock& clock() const noexcept { return base::system_clock(); }
  /// One inference on each shape set with the seeded inputs.
  [[nodiscard]] virtual base::Result<OutputSet> outputs() = 0;
  /// One inference whose outputs nobody looks at, after which a workload that is not the same in each call is another.
  [[nodiscard]] virtual base::Result<void> run_once() { return {}; }
  /// Above 0: each output has so many rows, which are those of the reference over and over.
  [[nodiscard]] virtual std::int64_t repeated_rows() const noexcept { return 0; }
  /// What the user's own metric says of the latest outputs(), higher is better; unset: there is none. May be NaN.
  [[nodiscard]] virtual std::optional<double> metric() const { return std::nullopt; }
  /// Settings as the runtime reports them, by parameter key; only those that can be read back.
  [[nodiscard]] virtual std::map<std::string, std::string> effective_settings() const { return {}; }
  [[nodiscard]] virtual std::vector<schema::QualityFlag> flags() const { return {}; }
  /// Further numbers about what was done so far, by MetricDef key ("gpu_weights_gb").
  [[nodiscard]] virtual std::map<std::string, double> metrics() const { return {}; }
  [[nodiscard]] virtual schema::RanOn ran_on() const { return {}; }
  /// Most memory of another process that does the work, 0 where there is none.
  [[nodiscard]] virtual std::int64_t outside_peak_rss_bytes() const { return 0; }
  /// The process that does the work where it is another one, once it is prepared; 0: this one.
  [[nodiscard]] virtual std::int64_t outside_process() const { return 0; }
  /// The phase as the parent process sees it, even after a death. prepare may publish its own phase there at once (else
  /// `phase` is polled); the measurement publishes the rest. Called before prepare; the cell outlives the workload.
  virtual void share_phase(std::atomic<schema::TrialPhase>& /*cell*/) noexcept {}
};

/// Distance of `candidate` from `reference` (paired by position and name). Real numbers may be of another type in each:
/// half-precision outputs are compared with FP32 ones as numbers. Of outputs with a spread only the form is compared.
[[nodiscard]] schema::OutputError compare_outputs(const OutputSet& reference, const OutputSet& candidate);

/// Places of the outputs that differ between two calls by more than rounding and the order of additions explain.
[[nodiscard]] std::vector<std::size_t> varying_outputs(const OutputSet& first, const OutputSet& second);

/// Each output with `rows` rows (of its first dimension), which are its own over and over, the last time cut short.
[[nodiscard]] OutputSet repeat_rows(const OutputSet& outputs, std::int64_t rows);

/// The form in which reference outputs go to disk: versioned, checked on load (corrupt).
[[nodiscard]] base::Result<void> save_outputs(const OutputSet& outputs, const std::filesystem::path& path);
[[nodiscard]] base::Result<OutputSet> load_outputs(const std::filesystem::path& path);

}  // namespace ridgeline::workload
