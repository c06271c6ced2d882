// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "schema/message_renderer.hpp"
#include "trace/analysis/device_time.hpp"
#include "trace/analysis/range_names.hpp"
#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr double kLeastExposedTime = 0.03;  // of the time
constexpr double kAdvisedShare = 0.2;       // of the exposed time, before its code is shown too

using Collective = messages::CollectiveKind;
using Phase = messages::CollectivePhase;
using KindOfCollective = std::pair<Collective, Phase>;

/// In small letters, without underscores: "AllReduce" and "all_reduce" are one.
std::string plain(std::string_view text) {
  std::string out;
  for (const unsigned char c : text)
    if (c != '_') out += static_cast<char>(std::tolower(c));
  return out;
}

bool has_part(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return text.find(part) != std::string_view::npos; });
}

/// By a plain name.
Collective collective_in(std::string_view name) {
  if (has_part(name, {"allreduce"})) return Collective::all_reduce;
  if (has_part(name, {"reducescatter"})) return Collective::reduce_scatter;
  if (has_part(name, {"allgather"})) return Collective::all_gather;
  if (has_part(name, {"alltoall", "all2all"})) return Collective::all_to_all;
  if (has_part(name, {"broadcast"})) return Collective::broadcast;
  return has_part(name, {"sendrecv", ":send", ":recv"}) ? Collective::send_receive : Collective::other;
}

/// Plain names: the kernel's own, and the launch's place. A kernel may be one for all collectives, an all-to-all is
/// made of sends and receives, and a barrier of a sum.
Collective collective_of(std::string_view kernel, std::string_view place) {
  if (has_part(place, {"barrier"})) return Collective::barrier;
  const auto by_kernel = collective_in(kernel);
  const auto by_place = collective_in(place);
  if (by_kernel == Collective::other) return by_place;
  return by_kernel == Collective::send_receive && by_place == Collective::all_to_all ? by_place : by_kernel;
}

schema::Message message_of(const KindOfCollective& kind) {
  return messages::collective({.kind = kind.first, .phase = kind.second});
}

struct CollectiveAdvice {
  schema::Message (*advice)();
  std::string_view snippet;
};

constexpr CollectiveAdvice kGradients{
    &messages::advice_send_gradients,
    "DistributedDataParallel(model, bucket_cap_mb=50, gradient_as_bucket_view=True, static_graph=True)\n"
    "model.register_comm_hook(None, torch.distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_hook)"};
constexpr CollectiveAdvice kShardedGradients{
    &messages::advice_shard_blocks,
    "for block in model.blocks: fully_shard(block, mp_policy=MixedPrecisionPolicy(reduce_dtype=torch.bfloat16))"};
constexpr CollectiveAdvice kForwardGather{
    &messages::advice_gather_forward,
    "block.set_modules_to_forward_prefetch([following_block])   # FSDP2\n"
    "FullyShardedDataParallel(model, forward_prefetch=True, limit_all_gathers=True)   # FSDP1"};
constexpr CollectiveAdvice kBackwardGather{
    &messages::advice_gather_backward,
    "block.set_modules_to_backward_prefetch([following_block])   # FSDP2\n"
    "FullyShardedDataParallel(model, backward_prefetch=BackwardPrefetch.BACKWARD_PRE)   # FSDP1"};
constexpr CollectiveAdvice kExchange{&messages::advice_exchange_early,
                                     "work = torch.distributed.all_to_all_single(received, sent, async_op=True)\n"
                                     "other = independent(x)\n"
                                     "work.wait()"};
constexpr CollectiveAdvice kSums{&messages::advice_sum_early,
                                 "work = torch.distributed.all_reduce(partial, async_op=True)\n"
                                 "other = independent(x)\n"
                                 "work.wait()"};
constexpr CollectiveAdvice kSumsOfAnyPhase{
    &messages::advice_sum_early_or_in_buckets,
    "work = torch.distributed.all_reduce(partial, async_op=True)   # then what does not need it, then work.wait()\n"
    "DistributedDataParallel(model, bucket_cap_mb=50, gradient_as_bucket_view=True)   # gradients"};
constexpr CollectiveAdvice kBarriers{&messages::advice_no_barriers, ""};
constexpr CollectiveAdvice kAny{&messages::advice_send_early, ""};

/// What sharding a model brings is said only of one that is sharded.
CollectiveAdvice advice_for(const KindOfCollective& kind, bool is_sharded) {
  switch (kind.first) {
    case Collective::all_reduce:
      if (kind.second == Phase::forward) return kSums;
      if (is_sharded) return kAny;
      return kind.second == Phase::backward ? kGradients : kSumsOfAnyPhase;
    case Collective::reduce_scatter: return is_sharded ? kShardedGradients : kAny;
    case Collective::all_gather:
      if (!is_sharded) return kAny;
      return kind.second == Phase::backward ? kBackwardGather : kForwardGather;
    case Collective::all_to_all: return kExchange;
    case Collective::barrier: return kBarriers;
    default: return kAny;
  }
}

class CollectiveWalk {
 public:
  explicit CollectiveWalk(const Case& of) : of_(of), tally_(of.analysed.trace.strings) {
    const auto& ranges = of.analysed.trace.ranges;
    for (Place i = 0; i < ranges.size(); ++i) {
      knows_phases_ = knows_phases_ || ranges.kind[i] == RangeKind::operation;
      is_sharded_ = is_sharded_ ||
                    has_part(of.analysed.trace.strings.text(ranges.name[i]), {"FSDP", "FullySharded", "fully_shard"});
    }
  }

  /// Exposed time on the GPU with most of it, by kind; the largest first.
  std::vector<std::pair<KindOfCollective, std::int64_t>> exposed() {
    const auto& trace = of_.analysed.trace;
    const auto& kernels = trace.kernels;
    std::map<ProcessDevice, Intervals> others;
    std::map<KindOfCollective, std::map<ProcessDevice, Intervals>> kinds;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const auto& lane = trace.gpu_lanes[kernels.lane[i]];
      const ProcessDevice device{lane.process, lane.device};
      const auto name = trace.strings.text(kernels.name[i]);
      auto& into = of_.analysed.is_collective[i] ? kinds[kind_of(i, name)][device] : others[device];
      into.emplace_back(kernels.start_ns[i], kernels.start_ns[i] + kernels.duration_ns[i]);
      if (!of_.analysed.is_collective[i]) continue;
      tally_.add(module_of_work(of_.analysed, of_.analysed.kernels.row[i]), kernels.duration_ns[i],
                 kernels.duration_ns[i], device);
      tally_.add_row(kernels.name[i], kernels.duration_ns[i]);
      tally_.add_line(of_.analysed.lines.of_kernel(i, of_.analysed.kernels.call[i]));
    }
    std::vector<std::pair<KindOfCollective, std::int64_t>> out;
    for (auto& [kind, devices] : kinds) {
      std::int64_t alone = 0;
      for (auto& [device, spans] : devices) {
        auto& computing = others[device];
        spans.insert(spans.end(), computing.begin(), computing.end());
        alone = std::max(alone, measure_of_union(spans) - measure_of_union(computing));
      }
      if (alone > 0) out.emplace_back(kind, alone);
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return out;
  }

  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] bool is_sharded() const { return is_sharded_; }

 private:
  [[nodiscard]] KindOfCollective kind_of(std::size_t kernel, std::string_view name) const {
    const auto row = of_.analysed.kernels.row[kernel];
    auto place = row == kNowhere ? std::string() : plain(path_of(of_.analysed.attribution, row));
    const auto call = of_.analysed.kernels.call[kernel];
    for (const auto around : of_.analysed.names_around(call)) place += "/" + plain(around);
    auto phase = Phase::unknown;
    if (of_.analysed.is_backward(call) || has_part(place, {"backward"}))
      phase = Phase::backward;
    else if (knows_phases_ && call != kNowhere)
      phase = Phase::forward;
    return {collective_of(plain(name), place), phase};
  }

  const Case& of_;
  Tally tally_;
  bool knows_phases_ = false;  ///< operations say which are the backward pass's
  bool is_sharded_ = false;
};

}  // namespace

void collective_rule(const Case& of) {
  std::int64_t exposed = 0;
  std::int64_t all = 0;
  for (const auto& device : of.tables.devices) {
    if (device.exposed_ns <= exposed) continue;
    exposed = device.exposed_ns;
    all = device.collective_ns;
  }
  if (exposed == 0) return;
  CollectiveWalk walk(of);
  const auto kinds = walk.exposed();
  schema::ProfileFinding finding;
  walk.tally().tell(finding);
  finding.saving_ns = exposed;
  finding.title = messages::exposed_communication(static_cast<double>(exposed));
  finding.evidence.push_back(
      messages::communication_alone({.alone = static_cast<double>(exposed), .all = static_cast<double>(all)}));
  finding.computed = messages::computed_communication();
  const std::array tables{messages::table()};
  const schema::MessageRenderer words(tables);
  for (const auto& [kind, ns] : kinds) {
    const auto named = message_of(kind);
    if (kinds.size() > 1)
      finding.evidence.push_back(messages::communication_of_kind({.time = static_cast<double>(ns), .kind = named}));
    const auto advice = advice_for(kind, walk.is_sharded());
    if (finding.advice.empty()) finding.advice = advice.advice();
    const bool is_large = static_cast<double>(ns) >= kAdvisedShare * static_cast<double>(exposed);
    if (!is_large || advice.snippet.empty() || finding.snippet.find(advice.snippet) != std::string::npos) continue;
    finding.snippet +=
        fmt::format("{}# {}\n{}", finding.snippet.empty() ? "" : "\n", words.text(named), advice.snippet);
  }
  of.add(std::move(finding), kLeastExposedTime);
}

}  // namespace ridgeline::trace
