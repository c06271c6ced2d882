// SPDX-License-Identifier: Apache-2.0
// What limits the recommended configuration on the GPU: launches, copies, memory traffic or arithmetic.
#include <fmt/format.h>

#include "analysis/alone.hpp"
#include "analysis/gpu_limits.hpp"
#include "analysis/model_rate.hpp"
#include "analysis/rules/rule.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {
namespace {

using base::format_duration;

std::string share_text(double part, double whole) { return fmt::format("{:.0f} %", 100 * part / whole); }

/// "525 GFLOP", "12 FLOP".
std::string quantity(double value, const char* unit) {
  return base::format_count(value) + (value < 999.5 ? " " : "") + unit;
}

/// Of memory traffic: fusion keeps some of what the file's own nodes would move in the chip.
const char* about(const InferenceWork& work) { return work.as_run ? "about" : "up to"; }

std::string title_of(const GpuLimits& limits, std::int64_t nodes, int id) {
  const auto whole = limits.inference_ns;
  // Farther from its limit than this, a bound names the nearest limit rather than the cause.
  constexpr double kFar = 3;
  const auto name = [&](const char* word) {
    return fmt::format("{}-bound (trial {}){}", word, id,
                       limits.bound != GpuBound::launch && limits.distance.value_or(0) > kFar
                           ? ", though its kernels stay far from that limit"
                           : "");
  };
  switch (limits.bound) {
    case GpuBound::copy:
      return limits.copy_ns ? fmt::format("{}: moving inputs and outputs takes {} of an inference", name("Copy"),
                                          share_text(*limits.copy_ns, whole))
                            : fmt::format("{}: the GPU idles while inputs and outputs are moved", name("Copy"));
    case GpuBound::memory:
      return limits.memory_ns ? fmt::format("{}: memory traffic alone takes {} {} of an inference", name("Memory"),
                                            about(limits.work), share_text(*limits.memory_ns, whole))
                              : fmt::format("{}: only {:.1f} FLOP for every byte moved", name("Memory"),
                                            limits.work.flops / limits.work.memory_bytes);
    case GpuBound::compute:
      return limits.compute_ns ? fmt::format("{}: arithmetic alone takes at least {} of an inference", name("Compute"),
                                             share_text(*limits.compute_ns, whole))
                               : fmt::format("{}: {:.0f} FLOP for every byte moved", name("Compute"),
                                             limits.work.flops / limits.work.memory_bytes);
    case GpuBound::launch:
      if (limits.busy && *limits.busy <= 0.6)
        return fmt::format("{}: the GPU waits for the host {:.0f} % of the time, and copies do not explain it",
                           name("Launch"), 100 * (1 - *limits.busy));
      if (!limits.busy && limits.launch_ns)
        return fmt::format("{}: launches explain more of an inference than arithmetic, memory traffic or copies",
                           name("Launch"));
      return fmt::format("{}: {} a node is too short to fill the GPU", name("Launch"),
                         format_duration(whole / static_cast<double>(nodes)));
    case GpuBound::unclear: break;
  }
  if (limits.compute_ns && limits.memory_ns)
    return fmt::format(
        "What limits trial {} is not clear: arithmetic, memory traffic, copies and launches take {} of an "
        "inference at most",
        id,
        share_text(
            std::max({*limits.compute_ns, *limits.memory_ns, limits.copy_ns.value_or(0), limits.launch_ns.value_or(0)}),
            whole));
  return fmt::format("Arithmetic and memory traffic may both limit (trial {}): {:.0f} FLOP for every byte moved", id,
                     limits.work.flops / limits.work.memory_bytes);
}

std::string evidence_of(const GpuLimits& limits, const schema::TuneRun& run, std::int64_t nodes, int lanes) {
  std::vector<std::string> parts{fmt::format("an inference takes {}{}", format_duration(limits.inference_ns),
                                             lanes > 1 ? fmt::format(" of the GPU, {} in flight", lanes) : "")};
  const auto floor = [&](const char* what, const std::optional<double>& floor_ns, const std::string& work) {
    if (floor_ns && *floor_ns > 0) parts.push_back(fmt::format("{} {} ({})", what, format_duration(*floor_ns), work));
  };
  floor("arithmetic at least", limits.compute_ns,
        fmt::format("{} at the measured {} rate", quantity(limits.work.flops, "FLOP"), limits.compute_type));
  floor(fmt::format("memory traffic {}", about(limits.work)).c_str(), limits.memory_ns,
        quantity(limits.work.memory_bytes, limits.work.as_run ? "B in the nodes that run" : "B if no node were fused"));
  floor(limits.pageable_assumed ? "copies about" : "copies at least", limits.copy_ns,
        quantity(limits.work.input_bytes, "B in, ") + quantity(limits.work.output_bytes, "B out") +
            (limits.pageable_assumed ? ", taking ordinary memory at a third of the pinned rate" : ""));
  floor("launches about", limits.launch_ns, fmt::format("{} nodes", nodes));
  parts.push_back(limits.busy ? fmt::format("kernels ran {:.0f} % of the {}", 100 * *limits.busy,
                                            limits.busy_alone ? "time alone in a process" : "timed window")
                              : "how busy the GPU was is not known");
  if (limits.distance)
    parts.push_back(fmt::format("{:.2g} times {}", *limits.distance,
                                limits.bound == GpuBound::launch ? "what the card's own work needs" : "that limit"));
  if (!run.gpu_ceilings) parts.emplace_back("the card's ceilings were not measured, so this rests on less");
  if (run.io != "device" && !limits.work.outputs_known) parts.emplace_back("outputs of unknown size are left out");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string advice_of(const GpuLimits& limits, const schema::Configuration& configuration, const std::string& io) {
  switch (limits.bound) {
    case GpuBound::launch:
      return configuration.get_or("enable_cuda_graph", false).as_bool()
                 ? "A larger batch or further sessions fill the card; fewer, fused kernels help too"
                 : "enable_cuda_graph=true with bound tensors starts all kernels at once; a larger batch or further "
                   "sessions fill the card";
    case GpuBound::copy:
      if (io != "device" && configuration.get_or("io_binding", "none").as_text() == "none")
        return "Bind pinned memory (io_binding), overlap copies by two sessions, or keep the data on the GPU (--io "
               "device)";
      return "Overlap copies by further sessions, send smaller types (bytes instead of floats), or keep the data on "
             "the "
             "GPU (--io device)";
    case GpuBound::memory: return "Half precision halves the traffic; a larger batch reuses the weights";
    case GpuBound::compute:
      return limits.compute_type == "FP32" ? "TF32 or half precision multiply faster, if the accuracy allows it"
                                           : "Beyond settings, lower precision or a smaller model or input help";
    case GpuBound::unclear:
      return limits.compute_ns ? "Slow kernels or a host that does not keep up are left; a profiler tells which" : "";
  }
  return "";
}

}  // namespace

std::vector<Finding> gpu_bound_rule(const Evidence& evidence) {
  if (evidence.chosen == nullptr) return {};
  const auto limits = gpu_limits(evidence.run, *evidence.chosen,
                                 alone_with(evidence.run, evidence.outcomes, evidence.chosen->trial->configuration));
  if (!limits) return {};
  const auto& trial = *evidence.chosen->trial;
  const auto nodes = dispatched_nodes(evidence.run, trial.configuration);
  return {{FindingKind::limit, title_of(*limits, nodes, trial.id),
           evidence_of(*limits, evidence.run, nodes, evidence.chosen->outcome->measurement->lanes),
           advice_of(*limits, trial.configuration, evidence.run.io)}};
}

}  // namespace ridgeline::analysis
