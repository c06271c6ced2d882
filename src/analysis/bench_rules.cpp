// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_rules.hpp"

#include <algorithm>
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

  /// Data in memory is much faster than the loader: who holds the loader up?
  void loading() {
    const auto host = find(base_, DataMode::host);
    const auto doubled = find(with_workers(base_, more_workers(base_.workers, input_.cores)), DataMode::loader);
    if (!loader_.holds_up) return;
    if (loader_.wants_more_workers) {
      add("too_few_workers", fmt::format("{} loader workers are too few", base_.workers),
          fmt::format("with {} workers: {}; with data in memory: {:.0f}", more_workers(base_.workers, input_.cores),
                      against(*doubled), host->rate),
          fmt::format("num_workers: {}", more_workers(base_.workers, input_.cores)), gain(*doubled), *doubled);
      return;
    }
    // Where fewer workers are faster, or their threads crowd the CPUs, what each of them does is not the cause.
    if (!findings_.empty()) return;
    const auto alone = find(base_, DataMode::loader_only);
    // A loader that is much faster on its own does not hold training up: something else does while both run.
    if (alone && base_.workers > 0 && alone->rate > base_evidence_.rate * kMuchFaster) return;
    const auto& source = alone ? *alone : base_evidence_;
    const auto busy = busy_workers(source, base_, input_);
    if (!busy) return;
    // CPUs were free and the further workers had too little to do: neither is the limit what each of them computes.
    unused_workers_ = *busy >= kBusyWorkers ? unused_workers(doubled) : "";
    if (!unused_workers_.empty()) return;
    const auto shared = fmt::format(
        "with data in memory: {}; {}", against(*host),
        doubled
            ? fmt::format("{} workers bring {:+.0f} %", more_workers(base_.workers, input_.cores), gain(*doubled) * 100)
            : std::string("there are no CPUs for more workers"));
    if (*busy >= kBusyWorkers)
      add("decode_bound", "decoding and transforms hold training up",
          fmt::format("{}; workers are busy {:.0f} % of the time", shared, *busy * 100),
          "store decoded or lighter data (no gzip, smaller images), move transforms to the device, or use more CPU "
          "cores",
          gain(*host), source);
    else
      add("storage_bound", "storage holds training up",
          fmt::format("{}; workers wait {:.0f} % of the time", shared, (1 - *busy) * 100),
          "put the data on faster storage or into memory, or read larger chunks", gain(*host), source);
  }

  /// "" unless twice the workers had CPUs to run on and did not use them.
  [[nodiscard]] std::string unused_workers(const std::optional<BenchEvidence>& doubled) const {
    auto more = base_;
    more.workers = more_workers(base_.workers, input_.cores);
    if (!doubled || base_.workers == 0 || more.workers > input_.cores) return "";
    const auto busy = busy_workers(*doubled, more, input_);
    if (!busy || *busy >= kUsedWorkers) return "";
    return fmt::format(
        "{} workers bring {:+.0f} % and are busy {:.0f} % of the time, so that something else limits the "
        "loader, such as handing batches over to the training process",
        more.workers, gain(*doubled) * 100, *busy * 100);
  }

  void oversubscription() {
    const auto half = base_.workers < 2 ? std::nullopt : find(with_workers(base_, base_.workers / 2), DataMode::loader);
    if (loader_.threads_each) {
      threads_within_workers(half);
      return;
    }
    if (!worth(half)) return;
    add("cpu_oversubscribed", fmt::format("{} loader workers crowd the training thread out", base_.workers),
        fmt::format("with {} workers: {}", base_.workers / 2, against(*half)),
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
      advice += ", or fewer workers";
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
    add("cpu_oversubscribed", "loader workers and training take the CPUs from each other",
        fmt::format("with data in memory: {}; the loader alone: {:.0f} (#{})", against(*host), alone->rate,
                    alone->trials.front()),
        "limit the threads of training and of each worker (torch.set_num_threads, OMP_NUM_THREADS) so that together "
        "they are "
        "no more than the CPUs, or use more CPU cores",
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
    const auto numbers = fmt::format("at batch {}: {}; with data on the device {:.0f} against {:.0f}", doubled.batch,
                                     against(*loader_doubled), device_doubled->rate, device->rate);
    if (!input_.on_cpu && busy && *busy < kIdleDevice)
      add("launch_bound", "the device waits for kernels to be launched",
          fmt::format("busy {:.0f} % of the time with data on the device; {}", *busy * 100, numbers),
          fmt::format("batch_size: {}, or fewer launches (torch.compile, CUDA graphs, fused optimizer)", doubled.batch),
          gain(*loader_doubled), *loader_doubled);
    else
      add("batch_too_small", fmt::format("batch {} does not fill the device", base_.batch), numbers,
          fmt::format("batch_size: {}", doubled.batch), gain(*loader_doubled), *loader_doubled);
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

  /// Why it may not be said that the device computes all the time; "" when it may.
  [[nodiscard]] std::string doubt(const std::optional<BenchEvidence>& host, const std::optional<double>& busy) const {
    if (!host) return "too few experiments were made to tell what holds training back";
    if (base_evidence_.count == 2 && base_evidence_.spread > kWorthwhileGain)
      return fmt::format("the machine is too uneven to tell: two measurements of these settings differ by {:.0f} %",
                         base_evidence_.spread * 100);
    if (loader_.holds_up) return "the loader holds training up, but none of the experiments shows by what";
    if (loader_.possible > 0) return "training is faster with data in memory, but none of the experiments shows why";
    if (!input_.on_cpu && busy && *busy < kIdleDevice)
      return "the device is idle, but none of the experiments shows why";
    return "";
  }

  void compute() {
    const auto host = find(base_, DataMode::host);
    const auto device = find(base_, DataMode::device);
    if (copies_hold_up(device)) return;
    const auto& busy = base_evidence_.resources.gpu_busy;
    const auto shown = busy ? busy : base_evidence_.resources.gpu_util;
    std::vector<std::string> facts;
    if (host && loader_.possible > 0) facts.push_back(fmt::format("with data in memory: {}", against(*host)));
    if (device) facts.push_back(fmt::format("with data on the device: {}", against(*device)));
    if (!unused_workers_.empty()) facts.push_back(unused_workers_);
    if (facts.empty()) facts.emplace_back("no experiment was faster");
    if (shown) facts.push_back(fmt::format("device busy {:.0f} % of the time", *shown * 100));
    auto evidence = fmt::format("{}", fmt::join(facts, "; "));
    const auto& measured = device ? *device : base_evidence_;
    if (auto reason = doubt(host, busy); !reason.empty())
      add("undetermined", std::move(reason), std::move(evidence),
          host ? "a profile of one step (ncu, torch.profiler), or the loader's own statistics"
               : "more time: a longer --max-time, or none",
          std::nullopt, measured);
    else
      add(input_.on_cpu ? "cpu_bound" : "gpu_bound",
          input_.on_cpu ? "the CPU computes all the time" : "the device computes all the time", std::move(evidence),
          "a smaller or faster model, or more devices; no setting of the loader would help", std::nullopt, measured);
  }

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
