// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "schema/configuration.hpp"
#include "schema/trial_outcome.hpp"

namespace ridgeline::workload {

/// Which settings pay off: a shape of response modelled on real networks.
enum class SurfaceKind { conv, transformer, tiny, flat };

/// How time passes: `virtual_time` advances a clock of its own by each inference's duration, so that minutes of
/// measurement take milliseconds; `real` keeps a core busy for the duration.
enum class ClockMode { virtual_time, real };

enum class FaultKind {
  segv,          ///< writes to an unmapped page
  abort,         ///< abort()
  kill,          ///< sends itself SIGKILL
  stop,          ///< sends itself SIGSTOP: no heartbeat any more
  exit,          ///< exit code 3
  hang,          ///< sleeps for ever
  oom,           ///< reports that an allocation failed
  alloc,         ///< allocates until the system refuses (give the worker an address-space limit) or 64 GiB are reserved
  fail,          ///< reports an internal error of the runtime
  invalid,       ///< reports an illegal option
  unsupported,   ///< reports an operator that the runtime lacks
  stderr_flood,  ///< writes 8 MiB to stderr, then goes on
  stdout_rubbish,  ///< writes binary rubbish to stdout, then goes on
  grandchild,      ///< leaves a sleeping child process behind, then goes on
  spin,            ///< leaves a thread behind that keeps a core busy, then goes on
  nan,             ///< outputs hold NaN
};

/// "intra_op_num_threads=4": true for configurations with that value (an unset key has the catalogue's default);
/// "!=" for all others.
struct SettingCondition {
  std::string key;
  schema::Value value;
  bool negated = false;
};
/// All must hold; empty: always.
using SettingConditions = std::vector<SettingCondition>;
[[nodiscard]] bool holds(const SettingConditions& conditions, const schema::Configuration& configuration);

struct Slowdown {
  double ratio = 0;  ///< 0.03: takes 3 % longer
  SettingConditions when;
};
/// Between two moments, counted from the run's beginning, everything takes `size` times as long.
struct Step {
  double size = 1;
  base::Nanoseconds from{};
  base::Nanoseconds to{};
  SettingConditions when;
};
/// Now and then, at random: a share `duty` of the time, for `mean` at a time, everything takes `size` times as long, or
/// so many cores are taken away from the machine, which slows what keeps more busy than are left.
struct Burst {
  double size = 1;
  int absent_cores = 0;
  double duty = 0.3;
  base::Nanoseconds mean{5'000'000'000};
  SettingConditions when;
};
struct OutputErrorRule {
  double ratio = 0;  ///< relative change of the outputs
  SettingConditions when;
};
struct Fault {
  FaultKind kind = FaultKind::fail;
  schema::TrialPhase phase = schema::TrialPhase::measure;
  SettingConditions when;
};

/// A made-up workload, as text (`--model synthetic:TEXT`): items separated by commas, each `name=value`. For example
///   synthetic:surface=conv,base=2ms,noise=1%
///   synthetic:fault=segv@measure if intra_op_num_threads=4,fault=hang@create_session if execution_mode=parallel
/// | item                    | meaning                                                                  | default |
/// |-------------------------|--------------------------------------------------------------------------|---------|
/// | surface=NAME            | conv, transformer, tiny or flat                                          | conv    |
/// | base=DURATION           | one inference at the default settings, batch 1                           | 2ms     |
/// | cores=N                 | cores of the machine modelled                                            | 8       |
/// | noise=RATIO             | standard deviation of the multiplicative (log-normal) noise              | 1%      |
/// | drift=RATIO             | slow swing of all times, same for every configuration                    | 0       |
/// | drift_period=DURATION   | length of one swing                                                      | 20s     |
/// | step=Nx@FROM..TO [if ...] | from FROM to TO of the run all times are N times as long; repeatable    |         |
/// | bursts=Nx [if ...]      | now and then all times are N times as long; repeatable                   |         |
/// | absent_cores=N [if ...] | now and then N cores are taken away; repeatable                         |         |
/// | duty=RATIO, mean=DURATION | of the bursts or absent cores before it: share of the time, mean length of one | 30%,
/// 5s | | spikes=RATIO            | share of inferences that take spike_size times as long                   | 0 | |
/// spike_size=NUMBER       | 1 to 1000000                                                             | 8       | |
/// warmup=N                | inferences until times are steady; the first takes 4 times as long       | 5       | |
/// session_time=DURATION   | creating one session                                                     | 20ms    | |
/// memory=MIB              | resident memory that a session really takes                              | 0       | |
/// clock=virtual or real   | see ClockMode                                                            | virtual | |
/// seed=N                  | of the noise, on top of --seed                                           | 1       | |
/// slowdown=RATIO [if ...] | these configurations take that much longer; repeatable                   |         | |
/// accuracy=RATIO [if ...] | these configurations' outputs are off by that much; repeatable           |         | |
/// ignores=KEY             | that setting is swallowed: no effect, reads back as unset; repeatable    |         | |
/// load=FILE               | a file with a number: all times are that many times as long; read before each measurement,
/// so it can change while a service is watched; no file: 1 | | | fault=KIND[@PHASE] [if ...] | a fault (FaultKind) in
/// load_runtime, create_session, warmup, measure or verify; repeatable | | `if key=value and key!=value` binds an item
/// to settings of the parameter catalogue: a busy neighbour that takes one of two cores is `bursts=2x if
/// intra_op_num_threads=2`.
struct SyntheticOptions {
  SurfaceKind surface = SurfaceKind::conv;
  base::Nanoseconds base{2'000'000};
  int cores = 8;
  double noise = 0.01;
  double drift = 0;
  base::Nanoseconds drift_period{20'000'000'000};
  std::vector<Step> steps;
  std::vector<Burst> bursts;
  double spikes = 0;
  double spike_size = 8;
  std::int64_t warmup = 5;
  base::Nanoseconds session_time{20'000'000};
  std::int64_t memory_mib = 0;
  ClockMode clock = ClockMode::virtual_time;
  std::uint64_t seed = 1;
  std::vector<Slowdown> slowdowns;
  std::vector<OutputErrorRule> accuracy;
  std::vector<std::string> ignores;
  std::string load_file;
  std::vector<Fault> faults;

  [[nodiscard]] const Fault* find_fault(schema::TrialPhase phase, const schema::Configuration& configuration) const;
};

/// The location without a leading "synthetic:".
[[nodiscard]] std::string_view synthetic_text(std::string_view location) noexcept;

/// Reads the text above, with or without "synthetic:" before it. Errors (invalid_argument) name the item and the
/// nearest known name.
[[nodiscard]] base::Result<SyntheticOptions> parse_synthetic_options(std::string_view location);

}  // namespace ridgeline::workload

template <>
struct ridgeline::base::EnumNames<ridgeline::workload::SurfaceKind> {
  using enum workload::SurfaceKind;
  static constexpr std::array names{std::pair{conv, "conv"}, std::pair{transformer, "transformer"},
                                    std::pair{tiny, "tiny"}, std::pair{flat, "flat"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::workload::ClockMode> {
  using enum workload::ClockMode;
  static constexpr std::array names{std::pair{virtual_time, "virtual"}, std::pair{real, "real"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::workload::FaultKind> {
  using enum workload::FaultKind;
  static constexpr std::array names{std::pair{segv, "segv"},
                                    std::pair{abort, "abort"},
                                    std::pair{kill, "kill"},
                                    std::pair{stop, "stop"},
                                    std::pair{exit, "exit"},
                                    std::pair{hang, "hang"},
                                    std::pair{oom, "oom"},
                                    std::pair{alloc, "alloc"},
                                    std::pair{fail, "fail"},
                                    std::pair{invalid, "invalid"},
                                    std::pair{unsupported, "unsupported"},
                                    std::pair{stderr_flood, "stderr_flood"},
                                    std::pair{stdout_rubbish, "stdout_rubbish"},
                                    std::pair{grandchild, "grandchild"},
                                    std::pair{spin, "spin"},
                                    std::pair{nan, "nan"}};
};
