// SPDX-License-Identifier: Apache-2.0
// What limits the recommended configuration on the GPU: launches, copies, memory traffic or arithmetic.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/gpu_limits.hpp"
#include "analysis/isolated.hpp"
#include "analysis/model_rate.hpp"
#include "analysis/rules/rule.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {
namespace {

using base::format_duration;

/// "18 %", "0.3 %".
std::string share_text(double part, double whole) {
  const double percent = 100 * part / whole;
  return percent < 0.95 ? fmt::format("{:.1g} %", percent) : fmt::format("{:.0f} %", percent);
}

/// "525 GFLOP", "12 FLOP".
std::string quantity(double value, const char* unit) {
  return base::format_count(value) + (value < 999.5 ? " " : "") + unit;
}

/// Of memory traffic and launches: of the file's own nodes the runtime may fuse many.
const char* about(const InferenceWork& work) { return work.as_run ? "about" : "up to"; }

/// "Memory-bound (trial 7)", "Likely memory-bound (trial 7)".
std::string name_of(const GpuLimits& limits, int id) {
  auto name = fmt::format("{}{} (trial {})", limits.likely ? "likely " : "", bound_name(limits.bound), id);
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return name;
}

double intensity_of(const InferenceWork& work) { return work.flops / work.memory_bytes; }

/// "23 FLOP for every byte moved".
std::string intensity_text(const InferenceWork& work) {
  return fmt::format("{}{:.0f} FLOP for every byte moved", work.as_run ? "" : "at least ", intensity_of(work));
}

/// Whether launches cost more than all else, and all else is known. (A busy card does not wait for them.)
bool most_are_launches(const GpuLimits& limits) {
  return !limits.busy && limits.launch_ns && limits.compute_ns && limits.memory_ns && limits.copy_ns &&
         *limits.launch_ns >= std::max({*limits.compute_ns, *limits.memory_ns, *limits.copy_ns});
}

std::string launch_title(const GpuLimits& limits, std::int64_t nodes, int id) {
  const auto name = name_of(limits, id);
  if (limits.busy && *limits.busy <= 0.6)
    return fmt::format("{}: the GPU waits for the host {:.0f} % of the time, and copies do not explain it", name,
                       100 * (1 - *limits.busy));
  if (most_are_launches(limits))
    return fmt::format("{}: launches {} more of an inference than arithmetic, memory traffic or copies", name,
                       limits.likely ? "may explain" : "explain");
  return fmt::format("{}: {} a node {} too short to fill the GPU", name,
                     format_duration(limits.inference_ns / static_cast<double>(nodes)),
                     limits.likely ? "of the file may be" : "is");
}

std::string unclear_title(const GpuLimits& limits, int id) {
  const auto whole = limits.inference_ns;
  if (limits.slow_kernels)
    return fmt::format(
        "Slow kernels (trial {}): they run {:.0f} % of the time, but arithmetic explains {} and memory traffic {}{} "
        "of it",
        id, 100 * *limits.busy, share_text(*limits.compute_ns, whole), limits.work.as_run ? "" : "up to ",
        share_text(*limits.memory_ns, whole));
  std::vector<std::string> parts;
  const auto part = [&](const char* what, const char* precision, const std::optional<double>& floor_ns) {
    if (floor_ns && *floor_ns > 0)
      parts.push_back(
          fmt::format("{} {}{} {}", what, parts.empty() ? "takes " : "", precision, share_text(*floor_ns, whole)));
  };
  part("arithmetic", "at least", limits.compute_ns);
  part("memory traffic", about(limits.work), limits.memory_ns);
  if (parts.empty())
    return fmt::format("Arithmetic and memory traffic may both limit (trial {}): {}", id, intensity_text(limits.work));
  part("copies", limits.pageable_assumed ? "about" : "at least", limits.copy_ns);
  part("launches", about(limits.work), limits.launch_ns);
  return fmt::format("What limits trial {} is not clear: {} of an inference", id, fmt::join(parts, ", "));
}

std::string title_of(const GpuLimits& limits, std::int64_t nodes, int id) {
  const auto whole = limits.inference_ns;
  const auto name = name_of(limits, id);
  switch (limits.bound) {
    case GpuBound::copy:
      return limits.copy_ns ? fmt::format("{}: moving inputs and outputs takes {} of an inference", name,
                                          share_text(*limits.copy_ns, whole))
                            : fmt::format("{}: the GPU idles while inputs and outputs are moved", name);
    case GpuBound::memory:
      return limits.memory_ns
                 ? fmt::format("{}: memory traffic alone takes {} {} of an inference", name, about(limits.work),
                               share_text(*limits.memory_ns, whole))
                 : fmt::format("{}: only {:.1f} FLOP for every byte moved{}", name, intensity_of(limits.work),
                               limits.work.as_run ? "" : " if no node were fused");
    case GpuBound::compute:
      return limits.compute_ns ? fmt::format("{}: arithmetic alone takes at least {} of an inference", name,
                                             share_text(*limits.compute_ns, whole))
                               : fmt::format("{}: {}", name, intensity_text(limits.work));
    case GpuBound::launch: return launch_title(limits, nodes, id);
    case GpuBound::unclear: break;
  }
  return unclear_title(limits, id);
}

std::string evidence_of(const GpuLimits& limits, const schema::TuneRun& run, std::int64_t nodes, int concurrency) {
  std::vector<std::string> parts{
      fmt::format("an inference takes {}{}", format_duration(limits.inference_ns),
                  concurrency > 1 ? fmt::format(" of the GPU, {} in flight", concurrency) : "")};
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
  floor(fmt::format("launches {}", about(limits.work)).c_str(), limits.launch_ns,
        fmt::format("{} nodes{}", nodes, limits.work.as_run ? "" : " if none were fused"));
  parts.push_back(limits.busy ? fmt::format("kernels ran {:.0f} % of the {}", 100 * *limits.busy,
                                            limits.busy_isolated ? "time alone in a process" : "timed window")
                              : "how busy the GPU was is not known");
  if (limits.distance)
    parts.push_back(fmt::format("{:.2g} times {}", *limits.distance,
                                limits.bound == GpuBound::launch ? "what the card's own work needs" : "that limit"));
  if (!run.gpu_ceilings) parts.emplace_back("the card's ceilings were not measured, so this rests on less");
  if (run.tensor_location != "device" && !limits.work.outputs_known)
    parts.emplace_back("outputs of unknown size are left out");
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool has_convolutions(const schema::ModelDescription& model) {
  return std::any_of(model.node_counts.begin(), model.node_counts.end(),
                     [](const auto& entry) { return entry.first.find("Conv") != std::string::npos; });
}

std::string unclear_advice(const GpuLimits& limits, const schema::TuneRun& run,
                           const schema::Configuration& configuration) {
  if (limits.slow_kernels) {
    const bool fallback = configuration.get_or("cudnn_conv_algo_search", "EXHAUSTIVE").as_text() == "DEFAULT";
    return fallback && has_convolutions(run.model)
               ? "cudnn_conv_algo_search=EXHAUSTIVE or HEURISTIC asks cuDNN for a plan; DEFAULT takes a slow fallback"
               : "A profiler shows which kernels are slow";
  }
  if (!limits.compute_ns && !limits.memory_ns) return "";
  const bool fusion_decides = !limits.work.as_run && limits.memory_ns.value_or(0) >= kExplains * limits.inference_ns;
  return fusion_decides && !schema::provider_of(run.provider).compiles_graph
             ? "A run that reads the runtime's graph (not --quick) shows more, as does a profiler"
             : "Slow kernels or a host that does not keep up are left; a profiler shows which";
}

std::string advice_of(const GpuLimits& limits, const schema::TuneRun& run, const schema::Configuration& configuration) {
  switch (limits.bound) {
    case GpuBound::launch:
      return configuration.get_or("enable_cuda_graph", false).as_bool()
                 ? "A larger batch or further sessions fill the card; fewer, fused kernels help too"
                 : "enable_cuda_graph=true with bound tensors starts all kernels at once; a larger batch or further "
                   "sessions fill the card";
    case GpuBound::copy:
      if (run.tensor_location != "device" && configuration.get_or("io_binding", "none").as_text() == "none")
        return "Bind pinned memory (io_binding), overlap copies by two sessions, or keep the data on the GPU (--io "
               "device)";
      return "Overlap copies by further sessions, send smaller types (bytes instead of floats), or keep the data on "
             "the "
             "GPU (--io device)";
    case GpuBound::memory: return "Half precision halves the traffic; a larger batch reuses the weights";
    case GpuBound::compute:
      return limits.compute_type == "FP32" ? "TF32 or half precision multiply faster, if the accuracy allows it"
                                           : "Beyond settings, lower precision or a smaller model or input help";
    case GpuBound::unclear: return unclear_advice(limits, run, configuration);
  }
  return "";
}

}  // namespace

std::vector<Finding> gpu_bound_rule(const Evidence& evidence) {
  if (evidence.chosen == nullptr) return {};
  const auto limits = gpu_limits(evidence.run, *evidence.chosen,
                                 isolated_with(evidence.run, evidence.outcomes, evidence.chosen->trial->configuration));
  if (!limits) return {};
  const auto& trial = *evidence.chosen->trial;
  const auto nodes = dispatched_nodes(evidence.run, trial.configuration);
  return {{FindingKind::limit, title_of(*limits, nodes, trial.id),
           evidence_of(*limits, evidence.run, nodes, evidence.chosen->outcome->measurement->concurrency),
           advice_of(*limits, evidence.run, trial.configuration)}};
}

}  // namespace ridgeline::analysis
