// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/profile.hpp"
#include "schema/tune_run.hpp"
#include "stats/two_samples.hpp"

namespace ridgeline::analysis {

/// A row of the module tree in both profiles, by what its steps took or moved.
struct ModuleChange {
  std::string path;
  double a = 0;  ///< median of a step: ns, or bytes
  double b = 0;
  stats::SampleRatio ratio;  ///< B over A, at 95 %, with p_value adjusted for all modules (Holm)
  double difference_ns = 0;  ///< of a step; of bytes 0
};

/// A kernel or an operation of the framework, by its calls.
struct CallsChange {
  std::string name;
  std::int64_t a = 0;  ///< calls
  std::int64_t b = 0;
  std::int64_t a_ns = 0;
  std::int64_t b_ns = 0;
};

struct DeviceChange {
  std::string a;
  std::string b;
  bool same = true;   ///< the same model, or not told
  double busy_a = 0;  ///< share of the span
  double busy_b = 0;
};

/// Two profiles of one program. Steps are the repeats; GPUs are matched by their order.
struct ProfileComparison {
  schema::Comparison total;  ///< of a step, above 1: B is faster, with its 99 % interval; inconclusive below 3 steps
  std::size_t steps_a = 0;
  std::size_t steps_b = 0;
  std::vector<DeviceChange> devices;
  std::vector<ModuleChange> times;  ///< shown to differ, by how much of the time it is
  std::vector<ModuleChange> bytes;  ///< likewise
  bool per_step = false;            ///< `changed` and `kernels` are of a step each, as the numbers of steps differ
  std::vector<CallsChange> only_a;  ///< operations of the framework
  std::vector<CallsChange> only_b;
  std::vector<CallsChange> changed;  ///< in both, with another number of calls; the largest difference first
  std::vector<CallsChange> kernels;  ///< by the difference of their time, the largest first
  /// What the numbers say of the cause: the clock, not the code.
  std::vector<schema::Message> remarks;
  /// Why the whole times, which is all that there is, are not of the same work. Empty: they may be compared.
  schema::Message not_comparable;
};
/// For machines only.
void to_json(nlohmann::json& json, const ProfileComparison& found);

/// Smaller differences of two profiles are none where nobody names another: steps of one process have no run-to-run
/// difference to allow for.
inline constexpr double kProfileEffect = 0.02;

/// The fewest steps that say how they scatter.
inline constexpr std::size_t kLeastProfileSteps = 3;

/// Speeds by two samples of times: above 1, B is faster. nullopt below kLeastProfileSteps times a side.
[[nodiscard]] std::optional<schema::Comparison> compare_times(std::span<const double> a, std::span<const double> b,
                                                              double confidence, double min_effect);

[[nodiscard]] ProfileComparison compare_profiles(const schema::ProfileRun& a, const schema::ProfileRun& b,
                                                 double min_effect);

/// Of a step's duration; of all work where there are no steps.
[[nodiscard]] double step_median_ns(const schema::ProfileRun& run);

}  // namespace ridgeline::analysis
