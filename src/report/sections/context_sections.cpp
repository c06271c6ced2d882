// SPDX-License-Identifier: Apache-2.0
// What the numbers hold for: the machine, the model and the runtime.
#include <algorithm>

#include "analysis/model_rate.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
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

std::string histogram_text(const TuneView& view, const std::map<std::string, std::int64_t>& counts, std::size_t limit) {
  std::vector<std::pair<std::string, std::int64_t>> rows(counts.begin(), counts.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (std::size_t i = 0; i < rows.size() && i < limit; ++i)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", rows[i].second, plain_text(rows[i].first));
  if (rows.size() <= limit) return out;
  return view.text(messages::tune_more_kinds({.first = out, .more = static_cast<std::int64_t>(rows.size() - limit)}));
}

}  // namespace

Section environment_section(const TuneView& view) {
  const auto& env = view.run.environment;
  FactList facts;
  facts.add("CPU", plain_text(env.cpu_model));
  if (env.usable_cpus > 0) {
    messages::TuneCores out{.usable = env.usable_cpus, .quota = env.cgroup_cpu_quota};
    if (env.logical_cpus > 0) out.logical = env.logical_cpus;
    if (env.physical_cores > 0) out.physical = env.physical_cores;
    facts.add("Cores", view.text(messages::tune_cores(out)));
  }
  if (env.smt) facts.add("SMT", *env.smt ? "on" : "off");
  if (env.governor) facts.add("Frequency governor", plain_text(*env.governor));
  facts.add("Instruction sets", joined_plain(env.isa));
  if (env.numa_nodes > 0) facts.add("NUMA nodes", fmt::format("{}", env.numa_nodes));
  if (env.memory_bytes > 0)
    facts.add("Memory", view.text(messages::free_at_start({.bytes = static_cast<double>(env.memory_bytes),
                                                           .free = static_cast<double>(env.memory_available_bytes)})));
  for (const auto& gpu : env.gpus)
    facts.add("GPU", view.text(messages::gpu_described({.name = plain_text(gpu.name),
                                                        .memory = static_cast<double>(gpu.memory_bytes),
                                                        .driver = plain_text(gpu.driver_version)})));
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
    messages::TuneSize size{.bytes = static_cast<double>(model.file_bytes)};
    if (model.external_data_bytes > 0) size.external = static_cast<double>(model.external_data_bytes);
    facts.add("Size", view.text(messages::tune_size(size)));
  }
  facts.add("Producer", plain_text(model.producer));
  std::string opsets;
  for (const auto& [domain, version] : model.opsets)
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ",
                          domain.empty() ? std::string("ai.onnx") : plain_text(domain), version);
  facts.add("Opset", opsets);
  facts.add("Inputs", tensors_text(model.inputs));
  facts.add("Outputs", tensors_text(model.outputs));
  facts.add("Timed shapes", shapes_text(model.shapes.empty() ? view.run.workload.shapes : model.shapes));
  facts.add("How shapes were chosen", joined_plain(view.words.texts(model.shape_notes)));
  facts.add("Input values", joined_plain(view.words.texts(model.input_notes)));
  if (model.nodes > 0)
    facts.add("Nodes", fmt::format("{}: {}", model.nodes, histogram_text(view, model.node_counts, 8)));
  if (model.parameters > 0)
    facts.add("Parameters", fmt::format("{} ({})", format_count(static_cast<double>(model.parameters)),
                                        format_bytes(static_cast<double>(model.parameter_bytes))));
  if (model.flops > 0) facts.add("Work per inference", fmt::format("{}FLOP", format_count(model.flops)));
  // The trial of the findings too.
  const auto* ranked = view.recommended() != nullptr ? view.ranked(view.recommended()->id) : nullptr;
  if (ranked == nullptr && !view.ranking.empty()) ranked = &view.ranking.front();
  const auto* graph = ranked != nullptr ? analysis::graph_of(view.run, ranked->trial->configuration) : nullptr;
  if (graph != nullptr)
    facts.add("After fusion", view.text(messages::tune_fused({.nodes = graph->nodes, .bytes = graph->memory_bytes})));
  if (model.min_bytes > 0) facts.add("Memory traffic", view.text(messages::tune_unfused(model.min_bytes)));
  const auto rate = ranked != nullptr ? analysis::model_rate(view.run, *ranked).flops_per_s : 0;
  if (rate > 0)
    facts.add("Rate reached", view.linked(messages::tune_rate_reached({.flops = rate, .trial = ranked->trial->id})));
  if (!model.uncounted_ops.empty()) facts.add("Not counted", histogram_text(view, model.uncounted_ops, 8));
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
