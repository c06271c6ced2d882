// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/refused_inputs.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "workload/onnx/dim_role.hpp"
#include "workload/onnx/known_values.hpp"

namespace ridgeline::workload {
namespace {

constexpr std::size_t kMostNamed = 6;

bool holds_whole_numbers(const OrtPort& port) {
  const auto& type = port.description.element_type;
  return type.find("int") != std::string::npos || type == "bool";
}

std::string describe_port(const OrtPort& port, const schema::WorkloadRef& workload, std::size_t member) {
  const auto& name = port.description.name;
  std::string text = name;
  std::int64_t batch = 0;
  const std::vector<std::int64_t>* dims = nullptr;
  if (member < workload.shapes.size())
    for (const auto& shape : workload.shapes[member]) {
      if (shape.name != name) continue;
      text += fmt::format(" {}", shape_text(shape.dims));
      dims = &shape.dims;
      if (const auto axis = dynamic_batch_axis(port.description); axis && *axis < shape.dims.size())
        batch = shape.dims[*axis];
    }
  for (const auto& file : workload.input_files)
    if (file.name == name) return fmt::format("{} from {}", text, file.path);
  if (member < workload.input_values.size())
    for (const auto& values : workload.input_values[member])
      if (values.name == name) return fmt::format("{} = {}", text, schema::values_text(values, batch));
  return holds_whole_numbers(port) ? fmt::format("{} = {}", text, drawn_by_type(port.description.element_type, dims))
                                   : text;
}

}  // namespace

base::Error name_refused_inputs(base::Error error, const schema::WorkloadRef& workload,
                                const std::vector<OrtPort>& ports, std::size_t member) {
  if (error.code != base::ErrorCode::internal) return error;
  std::vector<const OrtPort*> order;
  for (const auto& port : ports) order.push_back(&port);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return holds_whole_numbers(*a) && !holds_whole_numbers(*b); });
  std::vector<std::string> named;
  for (const auto* port : order)
    if (named.size() < kMostNamed) named.push_back(describe_port(*port, workload, member));
  if (ports.size() > named.size()) named.push_back(fmt::format("{} more", ports.size() - named.size()));
  error.code = base::ErrorCode::refused_inputs;
  error.message = fmt::format("{}: the runtime refuses the inputs ({}): {}", workload.location, fmt::join(named, ", "),
                              error.message);
  error.hint =
      "give values that the model takes with --input NAME=VALUE or --input NAME:FILE.npy, or other sizes with --shape "
      "NAME:AxB";
  return error;
}

}  // namespace ridgeline::workload
