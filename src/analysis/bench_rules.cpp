// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/bench_evidence.hpp"
#include "analysis/bench_variants.hpp"
#include "analysis/messages.hpp"
#include "schema/messages.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::BenchFinding;
using schema::DataMode;
using schema::Message;
using schema::TrainingSettings;

constexpr double kIdleDevice = 0.70;  ///< busy share below which the device waits for launches
constexpr double kMuchFaster = 1.25;  ///< of the loader alone over training
constexpr double kNoisyBase = 0.10;   ///< width of the base's interval, of its rate
constexpr double kAllTheTime = 0.9;   ///< of the time: what computes so much is said to compute all of it

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

  /// A gain that is worth a finding. None is by settings that lose the loss.
  [[nodiscard]] bool worth(const std::optional<BenchEvidence>& other) const {
    return other && clearly_faster(*other, base_evidence_, kWorthwhileGain) &&
           (!other->lost_loss || base_evidence_.lost_loss);
  }
  [[nodiscard]] double gain(const BenchEvidence& other) const { return other.rate / base_evidence_.rate - 1; }

  /// The numbers of an experiment: "4100 samples/s against 2000 (#3 against #1)".
  [[nodiscard]] Message against(const BenchEvidence& other) const {
    return messages::bench_against({.rate = other.rate,
                                    .base = base_evidence_.rate,
                                    .trials = other.trials,
                                    .base_trials = base_evidence_.trials});
  }
  [[nodiscard]] Message in_memory(const BenchEvidence& host) const { return messages::bench_in_memory(against(host)); }

  void add(std::string code, Message title, Message evidence, Message advice, std::optional<double> predicted,
           const BenchEvidence& other) {
    auto trials = base_evidence_.trials;
    for (const int trial : other.trials)
      if (std::find(trials.begin(), trials.end(), trial) == trials.end()) trials.push_back(trial);
    findings_.push_back({std::move(code), std::move(title), std::move(evidence), std::move(advice), predicted,
                         std::move(trials), base_});
  }

  void too_few_workers() {
    const auto& ladder = loader_.ladder;
    const auto& best = ladder.climbed.back();
    std::vector<Message> evidence;
    for (const auto& rung : ladder.climbed)
      if (rung.workers != best.workers)
        evidence.push_back(messages::bench_of_rung({.workers = rung.workers, .rate = rung.evidence.rate}));
    evidence.push_back(messages::bench_of_workers({.workers = best.workers, .against = against(best.evidence)}));
    evidence.push_back(messages::bench_in_memory_alone(find(base_, DataMode::host)->rate));
    const auto busy = busy_workers(best.evidence, with_workers(base_, best.workers), input_);
    if (input_.cores > 0 && best.workers > input_.cores && busy && *busy < kBusyWorkers)
      evidence.push_back(messages::bench_waiting_workers_help({.share = 1 - *busy, .cpus = input_.cores}));
    if (ladder.next)
      evidence.push_back(messages::bench_workers_untried({.workers = *ladder.next, .why = input_.stopped_by}));
    else if (ladder.stopped && is_waiting(*ladder.stopped))
      evidence.push_back(messages::bench_once_only_although({.end = ladder.end, .limit = messages::bench_once_only()}));
    else
      evidence.push_back(messages::bench_more_untried({.workers = false, .end = ladder.end}));
    add("too_few_workers", messages::bench_too_few_workers(base_.workers), schema::messages::several(evidence),
        messages::bench_set_workers(best.workers), gain(best.evidence), best.evidence);
  }

  /// Whether the workers of a rung mostly wait, and steps wait for them.
  [[nodiscard]] bool is_waiting(const WorkerRung& rung) const {
    const auto settings = with_workers(base_, rung.workers);
    const auto busy = busy_workers(rung.evidence, settings, input_);
    return busy && *busy < kUsedWorkers && waits_for_batches(rung.evidence, settings);
  }

  /// What the first doubling brought, or why there was none.
  [[nodiscard]] Message more_text(const std::optional<BenchEvidence>& doubled) const {
    const auto& ladder = loader_.ladder;
    if (doubled)
      return messages::bench_workers_bring(
          {.workers = more_workers(base_.workers, input_.cores), .gain = gain(*doubled)});
    if (ladder.next) return messages::bench_workers_untried({.workers = {}, .why = input_.stopped_by});
    return messages::bench_more_untried({.workers = true, .end = ladder.end});
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
    unused_workers_ = *busy >= kBusyWorkers ? unused_workers(doubled) : Message();
    if (!unused_workers_.empty()) return;
    const bool computes = *busy >= kBusyWorkers;
    // More of them may be all that is missing.
    const bool room = !computes || input_.cores <= 0 || base_.workers < input_.cores;
    std::vector<Message> evidence{
        in_memory(*host), more_text(doubled),
        computes ? messages::bench_workers_busy(*busy) : messages::bench_workers_wait(1 - *busy)};
    if (!doubled && room)
      add("undetermined", messages::bench_loading_unknown(computes), schema::messages::several(evidence),
          messages::bench_try_workers({.workers = base_.workers, .more = more_workers(base_.workers, input_.cores)}),
          std::nullopt, source);
    else if (computes)
      add("decode_bound", messages::bench_decode_bound(), schema::messages::several(evidence),
          messages::bench_fix_decoding(), gain(*host), source);
    else
      waiting(std::move(evidence), *host, source);
  }

  /// Workers wait, and more of them bring no more.
  void waiting(std::vector<Message> evidence, const BenchEvidence& host, const BenchEvidence& source) {
    if (source.resources.loader_read_s) {  // the loader itself timed its reads
      add("storage_bound", messages::bench_storage_bound(), schema::messages::several(evidence),
          messages::bench_fix_storage(), gain(host), source);
      return;
    }
    evidence.push_back(messages::bench_once_only());
    add("storage_bound", messages::bench_workers_wait_in_vain(), schema::messages::several(evidence),
        messages::bench_fix_waiting_workers(), gain(host), source);
  }

  /// Empty unless the further workers had CPUs to run on, did not use them, and left steps waiting.
  [[nodiscard]] Message unused_workers(const std::optional<BenchEvidence>& doubled) const {
    const WorkerRung more{more_workers(base_.workers, input_.cores), doubled.value_or(BenchEvidence{})};
    if (!doubled || more.workers > input_.cores || !is_waiting(more)) return {};
    const auto busy = busy_workers(*doubled, with_workers(base_, more.workers), input_);
    return messages::bench_workers_unused(
        {.workers = more.workers, .gain = gain(*doubled), .busy = *busy, .limit = messages::bench_once_only()});
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
    std::vector<Message> evidence{
        messages::bench_of_fewer_workers({.workers = base_.workers / 2, .against = against(*half)})};
    if (busy) evidence.push_back(messages::bench_workers_busy(*busy));
    add("cpu_oversubscribed",
        messages::bench_too_many_workers({.workers = base_.workers, .crowd = busy && *busy >= kBusyWorkers}),
        schema::messages::several(evidence), messages::bench_set_workers(base_.workers / 2), gain(*half), *half);
  }

  void threads_within_workers(const std::optional<BenchEvidence>& half) {
    const double each = *loader_.threads_each;
    const auto host = find(base_, DataMode::host);
    const bool fewer_help = worth(half);
    std::vector<Message> evidence{
        messages::bench_workers_want(
            {.workers = base_.workers, .each = each, .all = each * base_.workers, .cpus = input_.cores}),
        in_memory(*host)};
    if (fewer_help) evidence.push_back(messages::bench_of_half({.workers = base_.workers / 2, .rate = half->rate}));
    add("cpu_oversubscribed", messages::bench_worker_threads(), schema::messages::several(evidence),
        messages::bench_fix_worker_threads(
            {.workers = fewer_help ? std::optional<std::int64_t>(base_.workers / 2) : std::nullopt,
             .fewer = base_.workers > 1,
             .untried = !half}),
        gain(*host), *host);
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
    std::vector<Message> evidence{in_memory(*host),
                                  messages::bench_loader_alone({.rate = alone->rate, .trial = alone->trials.front()})};
    if (!fewer) evidence.push_back(messages::bench_fewer_untried());
    add("cpu_oversubscribed", messages::bench_crowding(), schema::messages::several(evidence),
        messages::bench_fix_crowding(), std::nullopt, *alone);
  }

  void copying() {
    if (base_.pin_memory) return;
    const auto pinned = find(with_pin(base_), DataMode::loader);
    if (!worth(pinned)) return;
    add("unpinned_copy", messages::bench_unpinned_copy(),
        schema::messages::several({messages::bench_pinned(against(*pinned)),
                                   messages::bench_h2d({.h2d_ms = pinned->phases.h2d_ms.value,
                                                        .base_ms = base_evidence_.phases.h2d_ms.value})}),
        messages::bench_set_pinning(), gain(*pinned), *pinned);
  }

  void thrashing() {
    const auto half = find(with_batch(base_, base_.batch / 2), DataMode::loader);
    const auto retries = base_evidence_.resources.alloc_retries.value_or(0);
    if (retries <= 0 || !worth(half)) return;
    add("memory_thrashing", messages::bench_memory_thrashing(),
        schema::messages::several({messages::bench_retries({.retries = retries, .batch = base_.batch}),
                                   messages::bench_at_batch({.batch = base_.batch / 2, .against = against(*half)})}),
        messages::bench_set_batch(base_.batch / 2), gain(*half), *half);
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
    std::vector<Message> evidence{
        messages::bench_at_batch({.batch = doubled.batch, .against = against(*loader_doubled)}),
        messages::bench_on_device_alone({.rate = device_doubled->rate, .base = device->rate})};
    const bool idle = !input_.on_cpu && busy && *busy < kIdleDevice;
    if (step && step->waits() && (input_.on_cpu || idle)) {
      add("batch_too_small", messages::bench_batch_of_waiting_step({.batch = base_.batch, .share = 1 - step->thread}),
          schema::messages::several(evidence),
          schema::messages::several({messages::bench_set_batch(doubled.batch), messages::bench_fix_wait()}),
          gain(*loader_doubled), *loader_doubled);
    } else if (idle) {
      evidence.insert(evidence.begin(), messages::bench_device_busy_alone(*busy));
      if (step) evidence.push_back(messages::bench_thread_computes(step->thread));
      add("launch_bound", messages::bench_launch_bound(), schema::messages::several(evidence),
          messages::bench_fix_launches(doubled.batch), gain(*loader_doubled), *loader_doubled);
    } else {
      add("batch_too_small", messages::bench_batch_too_small(base_.batch), schema::messages::several(evidence),
          messages::bench_set_batch(doubled.batch), gain(*loader_doubled), *loader_doubled);
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
    add("amp_would_help", messages::bench_amp_would_help(), messages::bench_with_bf16(against(*other)),
        messages::bench_set_amp(), gain(*other), *other);
  }

  /// Pinned or not, the copies take a share of the steps that data on the device would not.
  bool copies_hold_up(const std::optional<BenchEvidence>& device) {
    const double wall_ms = base_evidence_.phases.wall_ms.value;
    const double h2d_ms = base_evidence_.phases.h2d_ms.value;
    if (input_.on_cpu || loader_.holds_up || !worth(device) || h2d_ms < kWorthwhileGain * wall_ms) return false;
    const double without = std::min(gain(*device), wall_ms / std::max(wall_ms - h2d_ms, kWorthwhileGain * wall_ms) - 1);
    add("copy_bound", messages::bench_copy_bound(),
        schema::messages::several({messages::bench_on_device(against(*device)),
                                   messages::bench_h2d_share({.h2d_ms = h2d_ms, .wall_ms = wall_ms})}),
        messages::bench_fix_copies(), without, *device);
    return true;
  }

  /// Share of the time that the device was busy; whether it is NVML's number, which is blind to short gaps.
  struct Busy {
    double share = 0;
    bool by_nvml = false;
  };
  [[nodiscard]] std::optional<Busy> device_busy(const std::optional<BenchEvidence>& device) const {
    const auto& seen = base_evidence_.resources;
    if (seen.gpu_busy) return Busy{*seen.gpu_busy};
    // Measured with data on the device; steps that are no slower with the loader keep it as busy.
    if (device && device->resources.gpu_busy && !worth(device)) return Busy{*device->resources.gpu_busy};
    if (seen.gpu_util) return Busy{*seen.gpu_util, true};
    return std::nullopt;
  }

  /// Why it may not be said that the device computes all the time; empty when it may.
  [[nodiscard]] Message doubt(const std::optional<BenchEvidence>& host, const std::optional<Busy>& busy,
                              const std::optional<StepShare>& step) const {
    if (!host) return messages::bench_few_experiments();
    if (is_uneven()) return messages::bench_uneven_machine(base_evidence_.spread);
    if (loader_.holds_up) return messages::bench_loader_unexplained();
    if (loader_.possible > 0) return messages::bench_memory_unexplained();
    if (input_.on_cpu) {
      if (!step) return messages::bench_step_unmeasured();
      return step->computes() ? Message() : messages::bench_others_compute();
    }
    if (!busy) return messages::bench_device_unmeasured();
    return busy->share < kIdleDevice ? messages::bench_idle_unexplained() : Message();
  }

  /// The longest of the phases, which is where to look.
  [[nodiscard]] static Message longest_phase(const BenchEvidence& seen) {
    using Phase = messages::BenchLongestPhasePhase;
    const auto& phases = seen.phases;
    const std::array<std::pair<Phase, double>, 3> all{{{Phase::forward, phases.forward_ms.value},
                                                       {Phase::backward, phases.backward_ms.value},
                                                       {Phase::optimizer, phases.optimizer_ms.value}}};
    const auto longest =
        std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return messages::bench_longest_phase(
        {.phase = longest->first, .phase_ms = longest->second, .wall_ms = phases.wall_ms.value});
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
    std::vector<Message> facts;
    if (host && loader_.possible > 0) facts.push_back(in_memory(*host));
    if (device) facts.push_back(messages::bench_on_device(against(*device)));
    if (!unused_workers_.empty()) facts.push_back(unused_workers_);
    if (facts.empty() && host) facts.push_back(messages::bench_nothing_faster());
    if (busy) facts.push_back(messages::bench_device_busy({.share = busy->share, .nvml = busy->by_nvml}));
    if (step) facts.push_back(messages::bench_threads_compute({.share = step->thread, .others = step->others}));
    if (auto open = not_tried(run_, input_); !open.empty()) facts.push_back(std::move(open));
    const auto& measured = device ? *device : base_evidence_;
    const auto reason = doubt(host, busy, step);
    if (step_waits(busy, step) && host && !loader_.holds_up && loader_.possible <= 0 && !is_uneven()) {
      facts.push_back(longest_phase(*stepping));
      add("step_waits", messages::bench_step_waits(1 - step->thread), schema::messages::several(facts),
          messages::bench_fix_wait(), std::nullopt, measured);
    } else if (!reason.empty()) {
      add("undetermined", reason, facts.empty() ? Message() : schema::messages::several(facts),
          host ? messages::bench_fix_unknown() : messages::bench_fix_time(), std::nullopt, measured);
    } else {
      const double share = input_.on_cpu ? step->thread : busy->share;
      add(input_.on_cpu ? "cpu_bound" : "gpu_bound",
          messages::bench_computes({.cpu = input_.on_cpu, .always = share >= kAllTheTime, .share = share}),
          schema::messages::several(facts), messages::bench_fix_compute(), std::nullopt, measured);
    }
  }
  [[nodiscard]] bool is_uneven() const { return base_evidence_.count == 2 && base_evidence_.spread > kWorthwhileGain; }

  const schema::BenchRun& run_;
  const DiagnosisInput& input_;
  const TrainingSettings base_;
  BenchEvidence base_evidence_;
  LoaderVerdict loader_;
  Message unused_workers_;  ///< why it is not said that decoding is the limit
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
