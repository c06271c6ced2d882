// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/bench_evidence.hpp"
#include "analysis/bench_variants.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::BenchFinding;
using schema::DataMode;
using schema::TrainingSettings;

constexpr double kIdleDevice = 0.70;  ///< busy share below which the device waits for launches
constexpr double kMuchFaster = 1.25;  ///< of the loader alone over training
constexpr double kNoisyBase = 0.10;   ///< width of the base's interval, of its rate
constexpr const char* kOnceOnly =
    "something that there is once limits the loader, such as storage, a lock that workers take in turns, or handing "
    "batches over to the training process";
constexpr const char* kFindTheWait =
    "find what the step waits for (a sleep, a file, the network, a lock, another process), for example with py-spy "
    "dump";

class Diagnosis {
 public:
  Diagnosis(const schema::BenchRun& run, const DiagnosisInput& input) : run_(run), input_(input), base_(input.base) {}

  std::vector<BenchFinding> run() {
    const auto base = find(base_, DataMode::loader);
    if (!base) return {};
    base_evidence_ = *base;
    loader_ = judge_loader(run_, input_);
    oversubscription();
    loading();
    if (!input_.on_cpu) copying();
    thrashing();
    if (!loader_.sets_pace) {
      batch();
      amp();
    }
    std::stable_sort(findings_.begin(), findings_.end(), [](const auto& a, const auto& b) {
      return a.predicted_gain.value_or(0) > b.predicted_gain.value_or(0);
    });
    if (findings_.empty()) crowding();
    if (findings_.empty()) compute();
    return std::move(findings_);
  }

 private:
  [[nodiscard]] std::optional<BenchEvidence> find(const TrainingSettings& settings, DataMode data) const {
    return find_evidence(run_, settings, data);
  }

  /// A gain that is worth a finding.
  [[nodiscard]] bool worth(const std::optional<BenchEvidence>& other) const {
    return other && clearly_faster(*other, base_evidence_, kWorthwhileGain);
  }
  [[nodiscard]] double gain(const BenchEvidence& other) const { return other.rate / base_evidence_.rate - 1; }

  /// The numbers of an experiment: "4,100 samples/s against 2,000 as it is (#3 against #1)".
  [[nodiscard]] std::string against(const BenchEvidence& other) const {
    return fmt::format("{:.0f} samples/s against {:.0f} (#{} against #{})", other.rate, base_evidence_.rate,
                       fmt::join(other.trials, ", #"), fmt::join(base_evidence_.trials, ", #"));
  }

  void add(std::string code, std::string title, std::string evidence, std::string advice,
           std::optional<double> predicted, const BenchEvidence& other) {
    auto trials = base_evidence_.trials;
    for (const int trial : other.trials)
      if (std::find(trials.begin(), trials.end(), trial) == trials.end()) trials.push_back(trial);
    findings_.push_back({std::move(code), std::move(title), std::move(evidence), std::move(advice), predicted,
                         std::move(trials), base_});
  }

  [[nodiscard]] static std::string workers_text(int workers) {
    return fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
  }
  [[nodiscard]] static std::string share_of(double share) { return fmt::format("{:.0f} %", share * 100); }

  void too_few_workers() {
    const auto& ladder = loader_.ladder;
    const auto& best = ladder.climbed.back();
    std::string evidence;
    for (const auto& rung : ladder.climbed)
      if (rung.workers != best.workers) evidence += fmt::format("with {}: {:.0f}; ", rung.workers, rung.evidence.rate);
    evidence += fmt::format("with {} workers: {}; with data in memory: {:.0f}", best.workers, against(best.evidence),
                            find(base_, DataMode::host)->rate);
    const auto busy = busy_workers(best.evidence, with_workers(base_, best.workers), input_);
    if (input_.cores > 0 && best.workers > input_.cores && busy && *busy < kBusyWorkers)
      evidence += fmt::format("; workers wait {} of the time, so that more of them than the {:g} CPUs help",
                              share_of(1 - *busy), input_.cores);
    if (ladder.next)
      evidence += fmt::format("; {} were not tried{}", *ladder.next, why_stopped());
    else if (ladder.stopped && is_waiting(*ladder.stopped))
      evidence += fmt::format("; {}, although {}", ladder.end, kOnceOnly);
    else
      evidence += fmt::format("; no more were tried: {}", ladder.end);
    add("too_few_workers", fmt::format("{} loader workers are too few", base_.workers), std::move(evidence),
        fmt::format("num_workers: {}", best.workers), gain(best.evidence), best.evidence);
  }

  /// Whether the workers of a rung mostly wait, and steps wait for them.
  [[nodiscard]] bool is_waiting(const WorkerRung& rung) const {
    const auto settings = with_workers(base_, rung.workers);
    const auto busy = busy_workers(rung.evidence, settings, input_);
    return busy && *busy < kUsedWorkers && waits_for_batches(rung.evidence, settings);
  }

  [[nodiscard]] std::string why_stopped() const {
    return input_.stopped_by.empty() ? "" : fmt::format(" ({})", input_.stopped_by);
  }

  /// What the first doubling brought, or why there was none.
  [[nodiscard]] std::string more_text(const std::optional<BenchEvidence>& doubled) const {
    const auto& ladder = loader_.ladder;
    if (doubled)
      return fmt::format("{} bring {:+.0f} %", workers_text(more_workers(base_.workers, input_.cores)),
                         gain(*doubled) * 100);
    if (ladder.next) return fmt::format("more workers were not tried{}", why_stopped());
    return fmt::format("more workers were not tried: {}", ladder.end);
  }

  /// Data in memory is much faster than the loader: who holds the loader up?
  void loading() {
    if (!loader_.holds_up) return;
    if (loader_.wants_more_workers) return too_few_workers();
    // Where fewer workers are faster, or their threads crowd the CPUs, what each of them does is not the cause.
    if (!findings_.empty()) return;
    const auto host = find(base_, DataMode::host);
    const auto doubled = find(with_workers(base_, more_workers(base_.workers, input_.cores)), DataMode::loader);
    const auto alone = find(base_, DataMode::loader_only);
    // A loader that is much faster on its own does not hold training up: something else does while both run.
    if (alone && base_.workers > 0 && alone->rate > base_evidence_.rate * kMuchFaster) return;
    const auto& source = alone ? *alone : base_evidence_;
    const auto busy = busy_workers(source, base_, input_);
    if (!busy) return;
    // CPUs were free and the further workers had too little to do: neither is the limit what each of them computes.
    unused_workers_ = *busy >= kBusyWorkers ? unused_workers(doubled) : "";
    if (!unused_workers_.empty()) return;
    const auto shared = fmt::format("with data in memory: {}; {}", against(*host), more_text(doubled));
    const bool computes = *busy >= kBusyWorkers;
    // More of them may be all that is missing.
    const bool room = !computes || input_.cores <= 0 || base_.workers < input_.cores;
    const auto does = computes ? fmt::format("workers are busy {} of the time", share_of(*busy))
                               : fmt::format("workers wait {} of the time", share_of(1 - *busy));
    if (!doubled && room)
      add("undetermined",
          computes ? "loading holds training up; whether more workers would help was not tried"
                   : "loader workers wait; whether more of them would help was not tried",
          fmt::format("{}; {}", shared, does),
          fmt::format("try --num-workers {} {}", base_.workers, more_workers(base_.workers, input_.cores)),
          std::nullopt, source);
    else if (computes)
      add("decode_bound", "decoding and transforms hold training up", fmt::format("{}; {}", shared, does),
          "store decoded or lighter data (no gzip, smaller images), move transforms to the device, or use more CPU "
          "cores",
          gain(*host), source);
    else
      waiting(shared, does, *host, source);
  }

  /// Workers wait, and more of them bring no more.
  void waiting(const std::string& shared, const std::string& does, const BenchEvidence& host,
               const BenchEvidence& source) {
    if (source.resources.loader_read_s) {  // the loader itself timed its reads
      add("storage_bound", "storage holds training up", fmt::format("{}; {}", shared, does),
          "put the data on faster storage or into memory, or read larger chunks", gain(host), source);
      return;
    }
    add("storage_bound", "loader workers wait, and more of them bring no more: for storage, the network or a lock",
        fmt::format("{}; {}; {}", shared, does, kOnceOnly),
        "put the data on faster storage or into memory, or read larger pieces; give each worker a file handle or "
        "connection of its own where they share one behind a lock",
        gain(host), source);
  }

  /// "" unless the further workers had CPUs to run on, did not use them, and left steps waiting.
  [[nodiscard]] std::string unused_workers(const std::optional<BenchEvidence>& doubled) const {
    const WorkerRung more{more_workers(base_.workers, input_.cores), doubled.value_or(BenchEvidence{})};
    if (!doubled || more.workers > input_.cores || !is_waiting(more)) return "";
    const auto busy = busy_workers(*doubled, with_workers(base_, more.workers), input_);
    return fmt::format("{} bring {:+.0f} % and are busy {} of the time: {}", workers_text(more.workers),
                       gain(*doubled) * 100, share_of(*busy), kOnceOnly);
  }

  void oversubscription() {
    const auto half = base_.workers < 2 ? std::nullopt : find(with_workers(base_, base_.workers / 2), DataMode::loader);
    if (loader_.threads_each) {
      threads_within_workers(half);
      return;
    }
    if (!worth(half)) return;
    // What they crowd is known only of workers that compute.
    const auto busy = busy_workers(base_evidence_, base_, input_);
    add("cpu_oversubscribed",
        fmt::format("{} loader workers {}", base_.workers,
                    busy && *busy >= kBusyWorkers ? "crowd the training thread out" : "are more than help"),
        fmt::format("with {}: {}{}", workers_text(base_.workers / 2), against(*half),
                    busy ? fmt::format("; workers are busy {} of the time", share_of(*busy)) : ""),
        fmt::format("num_workers: {}", base_.workers / 2), gain(*half), *half);
  }

  void threads_within_workers(const std::optional<BenchEvidence>& half) {
    const double each = *loader_.threads_each;
    const auto host = find(base_, DataMode::host);
    auto evidence = fmt::format(
        "{} workers want {:.1f} CPUs each, {:.0f} together, where {:g} can be used; "
        "with data in memory: {}",
        base_.workers, each, each * base_.workers, input_.cores, against(*host));
    std::string advice = "one thread in each worker (torch.set_num_threads(1) in worker_init_fn, OMP_NUM_THREADS=1)";
    if (worth(half)) {
      evidence += fmt::format("; with {} workers: {:.0f}", base_.workers / 2, half->rate);
      advice += fmt::format(", or num_workers: {}", base_.workers / 2);
    } else if (base_.workers > 1) {
      advice += half ? ", or fewer workers" : ", or fewer workers (not tried)";
    }
    add("cpu_oversubscribed", "the loader workers' own threads crowd the CPUs", std::move(evidence),
        advice + "; if it is those threads that decode: lighter data, or more CPU cores", gain(*host), *host);
  }

  /// Loader and training are both fast on their own and slow together, and half the workers change nothing.
  void crowding() {
    const auto host = find(base_, DataMode::host);
    const auto alone = find(base_, DataMode::loader_only);
    if (loader_.possible < kPaceSetter || !host || !alone || alone->rate <= base_evidence_.rate * kMuchFaster) return;
    // Copies that nobody looked into may be what both wait for.
    if (!input_.on_cpu && !base_.pin_memory && copies_take_time(base_evidence_) &&
        !find(with_pin(base_), DataMode::loader))
      return;
    const bool fewer = base_.workers < 2 || find(with_workers(base_, base_.workers / 2), DataMode::loader).has_value();
    add("cpu_oversubscribed", "loader workers and training slow each other down",
        fmt::format("with data in memory: {}; the loader alone: {:.0f} (#{}){}", against(*host), alone->rate,
                    alone->trials.front(), fewer ? "" : "; fewer workers were not tried"),
        "limit the threads of training and of each worker (torch.set_num_threads, OMP_NUM_THREADS) so that together "
        "they are no more than the CPUs, or use more CPU cores",
        std::nullopt, *alone);
  }

  void copying() {
    if (base_.pin_memory) return;
    const auto pinned = find(with_pin(base_), DataMode::loader);
    if (!worth(pinned)) return;
    add("unpinned_copy", "copies to the device from pageable memory are slow",
        fmt::format("with pinned memory: {}; H2D {:.2f} ms against {:.2f} ms a step", against(*pinned),
                    pinned->phases.h2d_ms.value, base_evidence_.phases.h2d_ms.value),
        "pin_memory: true", gain(*pinned), *pinned);
  }

  void thrashing() {
    const auto half = find(with_batch(base_, base_.batch / 2), DataMode::loader);
    const auto retries = base_evidence_.resources.alloc_retries.value_or(0);
    if (retries <= 0 || !worth(half)) return;
    add("memory_thrashing", "the allocator runs out of memory and starts over, step by step",
        fmt::format("{} allocator retries at batch {}; at batch {}: {}", retries, base_.batch, base_.batch / 2,
                    against(*half)),
        fmt::format("batch_size: {}", base_.batch / 2), gain(*half), *half);
  }

  /// Twice the batch takes much less than twice the time, although data costs nothing.
  void batch() {
    const auto doubled = with_batch(base_, base_.batch * 2);
    const auto device = find(base_, DataMode::device);
    const auto device_doubled = find(doubled, DataMode::device);
    const auto loader_doubled = find(doubled, DataMode::loader);
    if (!device || !device_doubled || !worth(loader_doubled)) return;
    if (!clearly_faster(*device_doubled, *device, kFilledGain)) return;
    const auto busy = device->resources.gpu_busy ? device->resources.gpu_busy : device->resources.gpu_util;
    const auto step = step_share(*device);
    auto numbers = fmt::format("at batch {}: {}; with data on the device {:.0f} against {:.0f}", doubled.batch,
                               against(*loader_doubled), device_doubled->rate, device->rate);
    const bool idle = !input_.on_cpu && busy && *busy < kIdleDevice;
    if (step && step->waits() && (input_.on_cpu || idle)) {
      add("batch_too_small",
          fmt::format("batch {} is small for a step that waits {} of its time", base_.batch,
                      share_of(1 - step->thread)),
          std::move(numbers), fmt::format("batch_size: {}; {}", doubled.batch, kFindTheWait), gain(*loader_doubled),
          *loader_doubled);
    } else if (idle) {
      if (step) numbers += fmt::format("; the training thread computes {} of the time", share_of(step->thread));
      add("launch_bound", "the device waits for kernels to be launched",
          fmt::format("busy {} of the time with data on the device; {}", share_of(*busy), numbers),
          fmt::format("batch_size: {}, or fewer launches (torch.compile, CUDA graphs, fused optimizer)", doubled.batch),
          gain(*loader_doubled), *loader_doubled);
    } else {
      add("batch_too_small", fmt::format("batch {} does not fill the device", base_.batch), std::move(numbers),
          fmt::format("batch_size: {}", doubled.batch), gain(*loader_doubled), *loader_doubled);
    }
  }

  void amp() {
    if (base_.amp != AmpMode::off) return;
    const auto other = find(with_amp(base_), DataMode::loader);
    if (!worth(other)) return;
    // Less memory is what makes it faster where memory is too tight: the gain is the other finding's.
    const auto tight = std::find_if(findings_.begin(), findings_.end(),
                                    [](const auto& one) { return one.code == "memory_thrashing"; });
    if (tight != findings_.end() && gain(*other) < *tight->predicted_gain + kWorthwhileGain) return;
    add("amp_would_help", "mixed precision is faster", fmt::format("with bf16: {}", against(*other)),
        "use_amp: true (bf16)", gain(*other), *other);
  }

  /// Pinned or not, the copies take a share of the steps that data on the device would not.
  bool copies_hold_up(const std::optional<BenchEvidence>& device) {
    const double wall_ms = base_evidence_.phases.wall_ms.value;
    const double h2d_ms = base_evidence_.phases.h2d_ms.value;
    if (input_.on_cpu || loader_.holds_up || !worth(device) || h2d_ms < kWorthwhileGain * wall_ms) return false;
    const double without = std::min(gain(*device), wall_ms / std::max(wall_ms - h2d_ms, kWorthwhileGain * wall_ms) - 1);
    add("copy_bound", "copies to the device hold training up",
        fmt::format("with data on the device: {}; H2D {:.2f} of {:.2f} ms a step", against(*device), h2d_ms, wall_ms),
        "fewer bytes a sample (uint8 in place of float32, converted on the device), or copies beside the steps "
        "(non_blocking "
        "on a stream of their own)",
        without, *device);
    return true;
  }

  /// Share of the time that the device was busy, with the source of a number that is blind to short gaps.
  struct Busy {
    double share = 0;
    const char* source = "";
  };
  [[nodiscard]] std::optional<Busy> device_busy(const std::optional<BenchEvidence>& device) const {
    const auto& seen = base_evidence_.resources;
    if (seen.gpu_busy) return Busy{*seen.gpu_busy};
    // Measured with data on the device; steps that are no slower with the loader keep it as busy.
    if (device && device->resources.gpu_busy && !worth(device)) return Busy{*device->resources.gpu_busy};
    if (seen.gpu_util) return Busy{*seen.gpu_util, " by NVML, which is blind to short gaps"};
    return std::nullopt;
  }

  /// Why it may not be said that the device computes all the time; "" when it may.
  [[nodiscard]] std::string doubt(const std::optional<BenchEvidence>& host, const std::optional<Busy>& busy,
                                  const std::optional<StepShare>& step) const {
    if (!host) return "too few experiments were made to tell what holds training back";
    if (is_uneven())
      return fmt::format("the machine is too uneven to tell: two measurements of these settings differ by {}",
                         share_of(base_evidence_.spread));
    if (loader_.holds_up) return "the loader holds training up, but none of the experiments shows by what";
    if (loader_.possible > 0) return "training is faster with data in memory, but none of the experiments shows why";
    if (input_.on_cpu) {
      if (!step) return "the step itself takes the time; whether it computes or waits was not measured";
      if (step->computes()) return "";
      return "the training thread waits while other threads of its process compute";
    }
    if (!busy) return "the step itself takes the time; whether the device was busy was not measured";
    if (busy->share < kIdleDevice) return "the device is idle, but none of the experiments shows why";
    return "";
  }

  /// The longest of the phases, which is where to look: "Fwd(ms) 21.0 of 22.1".
  [[nodiscard]] static std::string longest_phase(const BenchEvidence& seen) {
    const auto& phases = seen.phases;
    const std::array<std::pair<const char*, double>, 3> all{{{"Fwd(ms)", phases.forward_ms.value},
                                                             {"Bwd(ms)", phases.backward_ms.value},
                                                             {"Opt(ms)", phases.optimizer_ms.value}}};
    const auto longest =
        std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return fmt::format("{} {:.2f} of {:.2f} a step", longest->first, longest->second, phases.wall_ms.value);
  }

  /// The step sleeps, or waits for something on the host.
  [[nodiscard]] bool step_waits(const std::optional<Busy>& busy, const std::optional<StepShare>& step) const {
    return step && step->waits() && (input_.on_cpu || (busy && busy->share < kIdleDevice));
  }

  void compute() {
    const auto host = find(base_, DataMode::host);
    const auto device = find(base_, DataMode::device);
    if (copies_hold_up(device)) return;
    const auto busy = device_busy(device);
    const auto& stepping = device ? device : host;
    const auto step = stepping ? step_share(*stepping) : std::nullopt;
    std::vector<std::string> facts;
    if (host && loader_.possible > 0) facts.push_back(fmt::format("with data in memory: {}", against(*host)));
    if (device) facts.push_back(fmt::format("with data on the device: {}", against(*device)));
    if (!unused_workers_.empty()) facts.push_back(unused_workers_);
    if (facts.empty() && host) facts.emplace_back("no experiment that was made was faster");
    if (busy) facts.push_back(fmt::format("device busy {} of the time{}", share_of(busy->share), busy->source));
    if (step)
      facts.push_back(
          fmt::format("the training thread computes {} of the time, other threads of its process use {:.1f} "
                      "CPUs",
                      share_of(step->thread), step->others));
    if (const auto open = not_tried(run_, input_); !open.empty()) facts.push_back(open);
    const auto& measured = device ? *device : base_evidence_;
    const auto reason = doubt(host, busy, step);
    if (step_waits(busy, step) && host && !loader_.holds_up && loader_.possible <= 0 && !is_uneven()) {
      facts.push_back(longest_phase(*stepping));
      add("step_waits", fmt::format("the training step waits {} of its time", share_of(1 - step->thread)),
          fmt::format("{}", fmt::join(facts, "; ")), kFindTheWait, std::nullopt, measured);
    } else if (!reason.empty()) {
      add("undetermined", reason, fmt::format("{}", fmt::join(facts, "; ")),
          host ? "a profile of one step (ncu, torch.profiler), or the loader's own statistics"
               : "more time: a longer --max-time, or none",
          std::nullopt, measured);
    } else {
      add(input_.on_cpu ? "cpu_bound" : "gpu_bound",
          input_.on_cpu ? "the CPU computes " + most(step->thread) : "the device computes " + most(busy->share),
          fmt::format("{}", fmt::join(facts, "; ")),
          "a smaller or faster model, or more devices; no setting of the loader would help", std::nullopt, measured);
    }
  }
  [[nodiscard]] static std::string most(double share) {
    constexpr double kAll = 0.9;
    return share >= kAll ? "all the time" : share_of(share) + " of the time";
  }
  [[nodiscard]] bool is_uneven() const { return base_evidence_.count == 2 && base_evidence_.spread > kWorthwhileGain; }

  const schema::BenchRun& run_;
  const DiagnosisInput& input_;
  const TrainingSettings base_;
  BenchEvidence base_evidence_;
  LoaderVerdict loader_;
  std::string unused_workers_;  ///< why it is not said that decoding is the limit
  std::vector<BenchFinding> findings_;
};

}  // namespace

std::vector<BenchFinding> diagnose_bench(const schema::BenchRun& run, const DiagnosisInput& input) {
  return Diagnosis(run, input).run();
}

bool needs_another_base(const schema::BenchRun& run, const DiagnosisInput& input, bool only_if_noisy) {
  const auto known = find_evidence(run, input.base, DataMode::loader);
  if (!known || known->count > 2) return false;
  if (known->count == 2) return known->spread > kWorthwhileGain;
  if (only_if_noisy && known->high - known->low <= kNoisyBase * known->rate) return false;
  const auto findings = diagnose_bench(run, input);
  return std::any_of(findings.begin(), findings.end(), [](const auto& one) { return one.predicted_gain.has_value(); });
}

}  // namespace ridgeline::analysis
