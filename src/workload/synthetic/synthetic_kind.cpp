// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/synthetic_kind.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>

#include "base/hash.hpp"
#include "base/version.hpp"
#include "schema/catalog.hpp"
#include "workload/messages.hpp"
#include "workload/synthetic/synthetic_workload.hpp"

namespace ridgeline::workload {
namespace {

using base::Result;

constexpr const char* kSyntheticKind = "synthetic";

/// Node types that let the rules of the search keep what the surface responds to.
std::map<std::string, std::int64_t> nodes_of(SurfaceKind surface) {
  switch (surface) {
    case SurfaceKind::conv:
      return {{"Conv", 62}, {"BatchNormalization", 40}, {"Relu", 55}, {"Add", 16}, {"Concat", 4}, {"Sigmoid", 2},
              {"Gemm", 1}};
    case SurfaceKind::transformer:
      return {{"MatMul", 96}, {"Softmax", 12}, {"LayerNormalization", 25}, {"Gelu", 12}, {"Add", 120}, {"Reshape", 48}};
    case SurfaceKind::tiny: return {{"Gemm", 3}, {"Relu", 2}, {"Sigmoid", 1}};
    case SurfaceKind::flat: return {{"Conv", 8}, {"MatMul", 8}, {"Relu", 8}};
  }
  return {};
}

Result<std::vector<schema::ShapeSet>> choose_shapes(const std::vector<schema::ShapeSet>& asked,
                                                    std::vector<schema::Message>& notes) {
  if (asked.empty()) {
    notes.push_back(messages::batch_default({.input = "x", .axis = "N", .size = 1}));
    return std::vector<schema::ShapeSet>{{{"x", {1, 3, 64, 64}}}};
  }
  for (const auto& set : asked)
    for (const auto& input : set)
      if (input.name != "x" || input.dims.size() != 4 || input.dims[0] < 1)
        return base::fail(
            base::ErrorCode::invalid_argument,
            "shape of input \"{}\" does not fit: the synthetic workload has one input x of rank 4, as x:1x3x64x64",
            input.name);
  return asked;
}

Result<schema::ModelDescription> inspect_synthetic(const InspectRequest& request) {
  const auto text = std::string(synthetic_text(request.workload.location));
  RL_TRY_ASSIGN(const auto options, parse_synthetic_options(text));
  schema::ModelDescription model;
  model.path = "synthetic:" + text;
  model.sha256 = base::sha256_hex(text);
  model.file_bytes = static_cast<std::int64_t>(text.size());
  model.producer = "ridgeline";
  model.opsets = {{"", 17}};
  model.inputs = {{"x", "float", {-1, 3, 64, 64}, {"N", "", "", ""}}};
  model.outputs = {{"y", "float", {-1, 1000}, {"N", ""}}};
  model.node_counts = nodes_of(options.surface);
  for (const auto& [type, count] : model.node_counts) model.nodes += count;
  RL_TRY_ASSIGN(model.shapes, choose_shapes(request.workload.shapes, model.shape_notes));
  model.batch_axis_size = model.shapes.front().empty() ? 1 : model.shapes.front().front().dims.front();
  model.batch_is_dynamic = true;
  model.notes.push_back(messages::synthetic_model());
  return model;
}

Result<schema::RuntimeIdentity> probe_synthetic(const std::string& /*library*/,
                                                const std::vector<schema::PluginLibrary>& /*plugins*/) {
  schema::RuntimeIdentity identity;
  identity.name = "synthetic";
  identity.version = base::version();
  if (std::getenv("RIDGELINE_SYNTHETIC_GPU") != nullptr)
    identity.providers.push_back(schema::usual_gpu_provider().library_name);
  identity.providers.push_back(schema::cpu_provider().library_name);
  return identity;
}

}  // namespace

WorkloadKind make_synthetic_kind() {
  const char* path = std::getenv(VirtualClock::kVariable);
  if (path == nullptr) return make_synthetic_kind(std::make_shared<const VirtualClock>());
  auto clock = VirtualClock::attach(path);
  if (clock) return make_synthetic_kind(std::move(*clock));
  auto kind = make_synthetic_kind(std::make_shared<const VirtualClock>());
  kind.make = [error = clock.error()](const schema::TrialSpec&) -> Result<std::unique_ptr<Workload>> {
    return tl::unexpected<base::Error>(error);
  };
  return kind;
}

Result<std::shared_ptr<const VirtualClock>> simulated_clock(const schema::WorkloadRef& workload) {
  if (workload.kind != kSyntheticKind) return nullptr;
  RL_TRY_ASSIGN(const auto options, parse_synthetic_options(workload.location));
  if (options.clock == ClockMode::real) return nullptr;
  return VirtualClock::share();
}

WorkloadKind make_synthetic_kind(std::shared_ptr<const VirtualClock> clock) {
  WorkloadKind kind;
  kind.name = kSyntheticKind;
  kind.inspect = inspect_synthetic;
  kind.probe = probe_synthetic;
  kind.clock = [clock](const schema::TrialSpec& spec) -> const base::Clock* {
    const auto options = parse_synthetic_options(spec.workload.location);
    if (options && options->clock == ClockMode::real) return &base::system_clock();
    return clock.get();
  };
  kind.make = [clock = std::move(clock), instances = std::make_shared<std::atomic<std::uint64_t>>(0)](
                  const schema::TrialSpec& spec) -> Result<std::unique_ptr<Workload>> {
    RL_TRY_ASSIGN(auto options, parse_synthetic_options(spec.workload.location));
    RL_TRY(schema::check_configuration(spec.configuration));
    return std::make_unique<SyntheticWorkload>(std::move(options), spec, clock, instances->fetch_add(1));
  };
  kind.reference = {{"graph_optimization_level", "disable_all"}, {"intra_op_num_threads", 1}};
  return kind;
}

}  // namespace ridgeline::workload
