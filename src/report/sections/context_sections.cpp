// SPDX-License-Identifier: Apache-2.0
// What the numbers hold for: the machine, the model and the runtime.
#include <algorithm>

#include "analysis/model_rate.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

using base::format_bytes;
using base::format_count;

/// Adds a row unless the value is empty.
class FactList {
 public:
  void add(std::string key, std::string value) {
    if (!value.empty()) facts_.rows.emplace_back(std::move(key), std::move(value));
  }
  [[nodiscard]] Section section(std::string id, std::string title) && {
    Section out{std::move(id), std::move(title), {}};
    if (!facts_.rows.empty()) out.blocks.emplace_back(std::move(facts_));
    return out;
  }

 private:
  Facts facts_;
};

std::string joined_plain(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + plain_text(word);
  return out;
}

std::string shape_text(const schema::TensorDescription& tensor) {
  std::string out;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    const auto name = i < tensor.dim_names.size() ? tensor.dim_names[i] : std::string();
    const auto dim = tensor.dims[i] >= 0 ? fmt::format("{}", tensor.dims[i]) : name.empty() ? std::string("?") : name;
    out += (out.empty() ? "" : "×") + dim;
  }
  return out.empty() ? std::string("scalar") : out;
}

std::string tensors_text(const std::vector<schema::TensorDescription>& tensors) {
  std::string out;
  for (const auto& tensor : tensors)
    out += fmt::format("{}{} {} {}", out.empty() ? "" : "; ", code_mark(tensor.name), plain_text(tensor.element_type),
                       plain_text(shape_text(tensor)));
  return out;
}

std::string shapes_text(const std::vector<schema::ShapeSet>& sets) {
  std::string out;
  for (const auto& set : sets)
    for (const auto& shape : set) {
      std::string dims;
      for (const auto dim : shape.dims) dims += fmt::format("{}{}", dims.empty() ? "" : "×", dim);
      out += fmt::format("{}{} {}", out.empty() ? "" : "; ", code_mark(shape.name), dims);
    }
  return out;
}

std::string histogram_text(const std::map<std::string, std::int64_t>& counts, std::size_t limit) {
  std::vector<std::pair<std::string, std::int64_t>> rows(counts.begin(), counts.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (std::size_t i = 0; i < rows.size() && i < limit; ++i)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", rows[i].second, plain_text(rows[i].first));
  if (rows.size() > limit) out += fmt::format(" and {} more kinds", rows.size() - limit);
  return out;
}

}  // namespace

Section environment_section(const TuneView& view) {
  const auto& env = view.run.environment;
  FactList facts;
  facts.add("CPU", plain_text(env.cpu_model));
  if (env.usable_cpus > 0) {
    auto text = fmt::format("{:g} usable", env.usable_cpus);
    if (env.logical_cpus > 0) text += fmt::format(" of {} logical CPUs", env.logical_cpus);
    if (env.physical_cores > 0) text += fmt::format(", {} physical cores", env.physical_cores);
    if (env.cgroup_cpu_quota) text += fmt::format(", container quota {:g}", *env.cgroup_cpu_quota);
    facts.add("Cores", text);
  }
  if (env.smt) facts.add("SMT", *env.smt ? "on" : "off");
  if (env.governor) facts.add("Frequency governor", plain_text(*env.governor));
  facts.add("Instruction sets", joined_plain(env.isa));
  if (env.numa_nodes > 0) facts.add("NUMA nodes", fmt::format("{}", env.numa_nodes));
  if (env.memory_bytes > 0)
    facts.add("Memory", fmt::format("{}, {} free at the start", format_bytes(static_cast<double>(env.memory_bytes)),
                                    format_bytes(static_cast<double>(env.memory_available_bytes))));
  for (const auto& gpu : env.gpus)
    facts.add("GPU", fmt::format("{}, {}, driver {}", plain_text(gpu.name),
                                 format_bytes(static_cast<double>(gpu.memory_bytes)), plain_text(gpu.driver_version)));
  if (env.gpus.empty()) facts.add("GPU", plain_text(view.words.text(env.gpu_note)));
  facts.add("System", plain_text(env.os));
  facts.add("Kernel", plain_text(env.kernel));
  facts.add("Host", plain_text(env.hostname));
  if (env.load_average) facts.add("Load at the start", fmt::format("{:.2f}", *env.load_average));
  return std::move(facts).section("environment", "Environment");
}

Section model_section(const TuneView& view) {
  const auto& model = view.run.model;
  FactList facts;
  facts.add("File", code_mark(model.path.empty() ? view.run.workload.location : model.path));
  facts.add("SHA-256", code_mark(model.sha256.empty() ? view.run.workload.content_sha256 : model.sha256));
  if (model.file_bytes > 0) {
    auto size = format_bytes(static_cast<double>(model.file_bytes));
    if (model.external_data_bytes > 0)
      size += fmt::format(" and {} external data", format_bytes(static_cast<double>(model.external_data_bytes)));
    facts.add("Size", size);
  }
  facts.add("Producer", plain_text(model.producer));
  std::string opsets;
  for (const auto& [domain, version] : model.opsets)
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ",
                          domain.empty() ? std::string("ai.onnx") : plain_text(domain), version);
  facts.add("Opset", opsets);
  facts.add("Inputs", tensors_text(model.inputs));
  facts.add("Outputs", tensors_text(model.outputs));
  facts.add("Shapes timed", shapes_text(model.shapes.empty() ? view.run.workload.shapes : model.shapes));
  facts.add("How they were chosen", joined_plain(view.words.texts(model.shape_notes)));
  facts.add("Values of inputs", joined_plain(view.words.texts(model.input_notes)));
  if (model.nodes > 0) facts.add("Nodes", fmt::format("{}: {}", model.nodes, histogram_text(model.node_counts, 8)));
  if (model.parameters > 0)
    facts.add("Parameters", fmt::format("{} ({})", format_count(static_cast<double>(model.parameters)),
                                        format_bytes(static_cast<double>(model.parameter_bytes))));
  if (model.flops > 0) facts.add("Work an inference", fmt::format("{}FLOP", format_count(model.flops)));
  // The trial of the findings too.
  const auto* ranked = view.recommended() != nullptr ? view.ranked(view.recommended()->id) : nullptr;
  if (ranked == nullptr && !view.ranking.empty()) ranked = &view.ranking.front();
  const auto* graph = ranked != nullptr ? analysis::graph_of(view.run, ranked->trial->configuration) : nullptr;
  if (graph != nullptr)
    facts.add("As the runtime fuses it", fmt::format("{} nodes, about {} of memory traffic an inference", graph->nodes,
                                                     format_bytes(graph->memory_bytes)));
  if (model.min_bytes > 0)
    facts.add("Memory traffic", fmt::format("{} an inference if no node were fused", format_bytes(model.min_bytes)));
  const auto rate = ranked != nullptr ? analysis::model_rate(view.run, *ranked).flops_per_s : 0;
  if (rate > 0)
    facts.add("Rate reached", fmt::format("{}FLOP/s by trial {}", format_count(rate), trial_link(ranked->trial->id)));
  if (!model.uncounted_ops.empty()) facts.add("Not counted", histogram_text(model.uncounted_ops, 8));
  facts.add("Notes", joined_plain(view.words.texts(model.notes)));
  return std::move(facts).section("model", "Model");
}

Section runtime_section(const TuneView& view) {
  const auto& runtime = view.run.runtime;
  FactList facts;
  facts.add("Runtime", plain_text(runtime.name + (runtime.version.empty() ? "" : " " + runtime.version)));
  facts.add("Library", code_mark(runtime.library_path));
  facts.add("SHA-256", code_mark(runtime.library_sha256));
  facts.add("Providers", joined_plain(runtime.providers));
  facts.add("Provider used", plain_text(view.run.provider));
  facts.add("Device", plain_text(view.run.device));
  facts.add("Libraries loaded", joined_plain(runtime.loaded_libraries));
  facts.add("Ridgeline", plain_text(view.run.environment.ridgeline_version));
  return std::move(facts).section("runtime", "Runtime");
}

}  // namespace ridgeline::report
