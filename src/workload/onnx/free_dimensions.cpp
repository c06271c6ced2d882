// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/free_dimensions.hpp"

#include <set>

#include "workload/onnx/dim_role.hpp"

namespace ridgeline::workload {
namespace {

schema::TensorDescription describe(const std::string& name, const std::vector<std::string>& dim_names,
                                   const std::vector<std::int64_t>& dims) {
  schema::TensorDescription input;
  input.name = name;
  input.dims = dims;
  input.dim_names = dim_names;
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    if (!dim_names[axis].empty()) input.dims[axis] = -1;
  return input;
}

}  // namespace

std::map<std::string, std::int64_t> free_dimensions(const schema::WorkloadRef& workload, std::int64_t batch) {
  std::map<std::string, std::int64_t> sizes;
  std::set<std::string> varying;
  for (const auto& given : workload.shapes) {
    std::vector<schema::TensorDescription> inputs;
    schema::ShapeSet set;
    for (const auto& shape : given) {
      const auto names = workload.dim_names.find(shape.name);
      if (names == workload.dim_names.end() || names->second.size() != shape.dims.size()) continue;
      inputs.push_back(describe(shape.name, names->second, shape.dims));
      set.push_back(shape);
    }
    if (batch > 0) set = with_batch(inputs, std::move(set), batch);
    for (std::size_t at = 0; at < set.size(); ++at)
      for (std::size_t axis = 0; axis < set[at].dims.size(); ++axis) {
        const auto& name = inputs[at].dim_names[axis];
        if (name.empty()) continue;
        const auto [known, is_new] = sizes.emplace(name, set[at].dims[axis]);
        if (!is_new && known->second != set[at].dims[axis]) varying.insert(name);
      }
  }
  for (const auto& name : varying) sizes.erase(name);
  return sizes;
}

void restore_free_dimensions(std::vector<OrtPort>& ports, const schema::WorkloadRef& workload) {
  for (auto& port : ports) {
    const auto names = workload.dim_names.find(port.description.name);
    if (names == workload.dim_names.end() || names->second.size() != port.description.dims.size()) continue;
    // The port's name stays where it is: others hold pointers to it.
    auto symbolic = describe(port.description.name, names->second, port.description.dims);
    port.description.dims = std::move(symbolic.dims);
    port.description.dim_names = std::move(symbolic.dim_names);
  }
}

}  // namespace ridgeline::workload
