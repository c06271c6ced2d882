// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/range_names.hpp"

#include "trace/torch_files.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr std::string_view kLineOfModule = " @ ";
constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function: ";
constexpr std::string_view kCompiledGraph = "Call CompiledFxGraph ";

}  // namespace

bool is_profiler_step(std::string_view name) { return name.starts_with(kStepPrefix); }

bool is_module_call(std::string_view name) { return name.starts_with(kModulePrefix); }

std::string_view module_name(std::string_view name) {
  if (!is_module_call(name)) return name;
  name.remove_prefix(kModulePrefix.size());
  return name.substr(0, name.find(kLineOfModule));
}

std::string_view module_line(std::string_view name) {
  const auto at = is_module_call(name) ? name.find(kLineOfModule) : std::string_view::npos;
  return at == std::string_view::npos ? std::string_view() : name.substr(at + kLineOfModule.size());
}

bool is_session_run(std::string_view name) { return name.starts_with(kSessionRun); }

bool is_within_session_run(std::string_view path) {
  return is_session_run(path) || path.find(std::string("/") + std::string(kSessionRun)) != std::string_view::npos ||
         path == kModelRun || path.starts_with(std::string(kModelRun) + "/");
}

bool is_python_line(std::string_view name) {
  if (is_module_call(name)) return false;
  const auto open = name.find(".py(");
  return open != std::string_view::npos && name.find("): ", open) != std::string_view::npos;
}

bool is_program_line(std::string_view name) {
  return is_python_line(name) && !is_of_torch(name) && name.find("<built-in") == std::string_view::npos;
}

std::string annotation_name(std::string_view name) {
  if (name.starts_with("## ") && name.ends_with(" ##") && name.size() > 6) name = name.substr(3, name.size() - 6);
  // Behind it stands a hash of the graph, which nobody can read.
  if (name.starts_with(kCompiledGraph)) return "compiled graph " + std::string(name.substr(kCompiledGraph.size(), 6));
  return std::string(name);
}

bool is_collective_kernel(std::string_view name) {
  for (const std::string_view part : {"nccl", "rccl", "cross_device_reduce", "multimem_all_reduce"})
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

bool is_collective_range(std::string_view name) {
  if (name == "record_param_comms" || name.starts_with("c10d::") || name.starts_with("_c10d_functional::")) return true;
  // PyTorch's "nccl:all_reduce"; "ncclAllReduce" is NCCL's own.
  const bool of_library = name.starts_with("nccl") || name.starts_with("rccl");
  return of_library && (name.size() == 4 || name[4] == ':' || (name[4] >= 'A' && name[4] <= 'Z'));
}

bool is_graph_launch(std::string_view name) {
  return name.starts_with(kGraphLaunch) && (name.size() == kGraphLaunch.size() || name[kGraphLaunch.size()] == ' ');
}

bool is_backward(const Trace& trace, Place range) {
  if (trace.ranges.kind[range] == RangeKind::annotation)
    return trace.strings.text(trace.ranges.name[range]) == kBackwardPass;
  if (trace.ranges.kind[range] != RangeKind::operation) return false;
  return trace.ranges.forward_thread[range] > 0 ||
         trace.strings.text(trace.ranges.name[range]).starts_with(kBackwardPrefix);
}

}  // namespace ridgeline::trace
