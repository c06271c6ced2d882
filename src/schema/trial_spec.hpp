// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/configuration.hpp"
#include "schema/execution_provider.hpp"
#include "schema/workload_ref.hpp"

namespace ridgeline::schema {

/// Why a provider of a build cannot be used.
struct ProviderNote {
  Message message;                   ///< names the first problem: "libcudnn.so.9 (needed by ...) is not found"
  Message looked_in;                 ///< every place; empty where that is no question
  Message hint;                      ///< what to do next
  std::vector<std::string> missing;  ///< files that are not there or do not load, the one of the message first

  /// Of an error: its words and its hint, as they are.
  [[nodiscard]] static ProviderNote of(const base::Error& error);
  /// Without the hint: the message, the places and what else is missing.
  [[nodiscard]] Message reason() const;
};
/// A message alone stands without the object around it.
void from_json(const base::Json& in, ProviderNote& note);
void to_json(base::Json& out, const ProviderNote& note);

/// A library of an execution provider that a runtime does not carry: registered with it at run time (ONNX Runtime 1.23
/// and later), and the kind of device that its sessions get.
struct ProviderPlugin {
  std::string library_path;  ///< absolute; not part of the identity
  std::string library_sha256;
  std::string ep_name;  ///< as the library names its provider: "OpenVINOExecutionProvider"
  std::string version;  ///< as its metadata tells; "": it does not
  std::string device;   ///< "CPU", "GPU" or "NPU"
};
RL_DECLARE_JSON(ProviderPlugin)

/// A library of providers that a runtime is to register, and what came of it on this machine.
struct PluginLibrary {
  std::string library_path;            ///< absolute
  std::string name;                    ///< the only provider (ProviderPlugin::ep_name) wanted of it; "": all of them
  std::string package;                 ///< that it came with: "onnxruntime-ep-openvino 1.8.1"; "": none
  std::vector<ProviderPlugin> offers;  ///< a row for each provider and kind of device that there is for it
  std::optional<ProviderNote> note{};  ///< why it offers none
};
RL_DECLARE_JSON(PluginLibrary)

/// The inference runtime a trial runs on; part of every trial's identity, so an upgrade invalidates old answers.
struct RuntimeIdentity {
  std::string name;          ///< "onnxruntime", "synthetic"
  std::string version;       ///< "1.29.0"
  std::string library_path;  ///< not part of the identity
  std::string library_sha256;
  std::vector<std::string> providers;  ///< as the library lists them: "CPUExecutionProvider", ...
  std::vector<std::string>
      loaded_libraries;  ///< CUDA, cuDNN ... files mapped by the worker, with versions; not part of the identity
  /// By provider (ExecutionProvider::id) its libraries' versions by name ("libcudnn.so": "9.19.0"); those of a trial's
  /// own provider are part of its identity.
  std::map<std::string, std::map<std::string, std::string>> provider_libraries{};
  /// Why a provider of this build ("cuda") cannot be used here; no entry: it can. Not part of the identity.
  std::map<std::string, ProviderNote> provider_notes{};
  std::vector<PluginLibrary> plugins{};  ///< those that the probe was asked about. Not part of the identity

  [[nodiscard]] bool offers(const ExecutionProvider& provider) const;
  /// Why it cannot be used here, where it is offered; nullptr: nothing is known against it.
  [[nodiscard]] const ProviderNote* why_not(const ExecutionProvider& provider) const;
};
RL_DECLARE_JSON(RuntimeIdentity)

/// How long and how often to time. Times in seconds.
struct MeasurementPlan {
  std::int64_t warmup_runs = 3;      ///< floor; warm-up goes on until times are steady
  double warmup_max_s = 5;           ///< steady or not, warm-up ends here (after the floor)
  std::optional<std::int64_t> runs;  ///< fixed number of timed inferences (a caller); else stop by interval or budget
  std::int64_t min_runs = 10;
  std::int64_t max_runs = 200000;  ///< sizes the sample buffer
  double min_time_s = 0.2;
  double max_time_s = 5;                ///< budget of the timed window
  double target_interval_ratio = 0.01;  ///< stop when the 95 % interval of the median is within +-this share of it
  friend bool operator==(const MeasurementPlan&, const MeasurementPlan&) = default;
};
RL_DECLARE_JSON(MeasurementPlan)

/// Everything a worker needs to run one trial, and everything that identifies its result.
struct TrialSpec {
  WorkloadRef workload;
  std::string provider = "cpu";  ///< ExecutionProvider::id
  std::string device;            ///< "cpu:<model>/<cores>", "gpu:<uuid>": results of one are not those of another
  RuntimeIdentity runtime;
  Configuration configuration;
  MeasurementPlan plan;
  std::string tensor_location =
      "host";  ///< where inputs start and outputs end, copies timed: "host", or "device" (kept there)
  /// On a GPU: in a fresh process that works on the session's stream alone. Otherwise as in one that works on several.
  bool isolated = false;
  std::optional<ProviderPlugin> plugin{};  ///< of `provider`, where the runtime does not carry it
  /// Of a PyTorch model on a GPU: calls between two waits for the device, as a program makes them that keeps it busy
  /// (throughput); 1: each call is waited for.
  std::int64_t calls_per_wait = 1;

  /// SHA-256 over all of it but paths (workload.location, library_path, input_files.path): the store's key.
  [[nodiscard]] std::string key() const;
  [[nodiscard]] bool on_gpu() const { return runs_on_gpu(provider); }
};
RL_DECLARE_JSON(TrialSpec)

/// How an interleaved comparison of two configurations runs: ABBA rounds of blocks A B B A.
struct PairedPlan {
  int rounds =
      6;  ///< pairs of sessions at least, made in counterbalanced order; the ABBA rounds are shared out among them
  int max_rounds = 60;        ///< where above `rounds`: more pairs of sessions until the interval is narrow enough
  int abba_rounds = 12;       ///< at least; each ABBA round gives one drift-free log ratio
  int max_abba_rounds = 400;  ///< goes on up to here until the interval is narrow enough
  double target_half_width = 0.01;  ///< of the 95 % interval of the mean log ratio of block medians; stopping by width
                                    ///< alone leaves the verdict's error rate as it is
  /// Timed part of one block. The speed of a shared core wanders on all scales from milliseconds to minutes: block
  /// medians of 100 ms scatter as much as those of 20 ms, of which five times as many fit in.
  double block_time_s = 0.02;
  std::int64_t min_block_runs = 3;
  double settle_s = 0.06;         ///< pause before a block at most: it ends when the other arm's threads spin no more
  std::int64_t discard_runs = 1;  ///< first inferences of each block, not counted; at least so many,
  double discard_time_s =
      0.004;               ///< and for so long: with cold caches the first take 10 to 30 % longer, after 4 ms 1 to 3 %
  double min_time_s = 4;   ///< however narrow the interval: tails need samples
  double max_time_s = 30;  ///< stops after the ABBA round in which this passes (at least 4 ABBA rounds are run)
  std::int64_t min_samples = 0;   ///< of each arm, however narrow the interval and however many ABBA rounds: a tail's
                                  ///< ratio needs them. For their sake a comparison may take
  double min_samples_time_s = 0;  ///< so long where that is more than max_time_s
  MeasurementPlan warmup;         ///< its warm-up part applies to each arm
};
RL_DECLARE_JSON(PairedPlan)

/// Compares two configurations of one workload in one fresh process, or in two where their runtimes, providers or
/// engines differ.
struct PairedSpec {
  TrialSpec base;       ///< its configuration is arm A
  Configuration other;  ///< arm B
  PairedPlan plan;
  bool fresh_process =
      true;  ///< false: a process that only ran pairs before, all well, will do. Not part of the record
  /// Arm B, in a process of its own; `other` is its configuration.
  std::optional<TrialSpec> across{};
  [[nodiscard]] std::string key() const;
};
RL_DECLARE_JSON(PairedSpec)

}  // namespace ridgeline::schema
