// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/workload_inputs.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "workload/onnx/dim_role.hpp"
#include "workload/onnx/input_generator.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::InputShape;
using schema::ShapeSet;
using schema::TensorDescription;

base::Result<void> check_name(const std::vector<OrtPort>& ports, const std::string& name, std::string_view flag) {
  std::vector<std::string> names;
  for (const auto& port : ports) names.push_back(port.description.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  return base::fail(ErrorCode::invalid_argument, "{} {}: the model has no such input; its inputs: {}", flag, name,
                    fmt::join(names, ", "))
      .hint("{}", base::did_you_mean(name, names));
}

base::Result<void> check_shape(const TensorDescription& input, const std::vector<std::int64_t>& dims) {
  if (input.dims.empty()) return {};  // a scalar or an input without a declared rank: the C API shows both alike
  bool fits = dims.size() == input.dims.size();
  for (std::size_t axis = 0; fits && axis < dims.size(); ++axis)
    fits = dims[axis] >= 0 && (input.dims[axis] < 0 || input.dims[axis] == dims[axis]);
  if (fits) return {};
  std::string declared;
  for (std::size_t axis = 0; axis < input.dims.size(); ++axis)
    declared +=
        fmt::format("{}{}", axis == 0 ? "" : "x", input.dims[axis] < 0 ? "?" : std::to_string(input.dims[axis]));
  return base::fail(ErrorCode::invalid_argument, "--shape {}:{} does not fit the model's input of shape {}", input.name,
                    shape_text(dims), declared);
}

base::Result<ShapeSet> complete(const std::vector<OrtPort>& ports, const ShapeSet& given) {
  for (const auto& shape : given) RL_TRY(check_name(ports, shape.name, "--shape"));
  ShapeSet set;
  for (const auto& port : ports) {
    const auto& input = port.description;
    if (!port.is_tensor)
      return base::fail(ErrorCode::unsupported, "input \"{}\" is a {}: only models whose inputs are tensors can be run",
                        input.name, input.element_type);
    const auto found =
        std::find_if(given.begin(), given.end(), [&](const auto& shape) { return shape.name == input.name; });
    if (found == given.end() && input.is_dynamic())
      return base::fail(ErrorCode::invalid_argument, "input \"{}\" has dynamic dimensions", input.name)
          .hint("give its shape with --shape {}:1x...", input.name);
    InputShape shape{input.name, found == given.end() ? input.dims : found->dims};
    RL_TRY(check_shape(input, shape.dims));
    set.push_back(std::move(shape));
  }
  return set;
}

/// The batch of one member: the size on the first dynamic batch axis, else 1.
double items_of(const std::vector<OrtPort>& ports, const ShapeSet& set) {
  for (std::size_t at = 0; at < ports.size(); ++at)
    if (const auto axis = dynamic_batch_axis(ports[at].description); axis && *axis < set[at].dims.size())
      return static_cast<double>(set[at].dims[*axis]);
  return 1;
}

const schema::InputValues* values_for(const std::vector<schema::InputValues>* rules, const std::string& name) {
  if (rules == nullptr) return nullptr;
  const auto found = std::find_if(rules->begin(), rules->end(), [&](const auto& one) { return one.name == name; });
  return found == rules->end() ? nullptr : &*found;
}

/// A file made for one item (or a divisor of the batch) serves every batch.
bool repeat_to(Tensor& tensor, const std::vector<std::int64_t>& dims) {
  if (tensor.dims.empty() || tensor.dims.size() != dims.size() || tensor.dims[0] <= 0 || dims[0] % tensor.dims[0] != 0)
    return false;
  if (!std::equal(dims.begin() + 1, dims.end(), tensor.dims.begin() + 1)) return false;
  const auto times = dims[0] / tensor.dims[0];
  std::string bytes;
  bytes.reserve(tensor.bytes.size() * static_cast<std::size_t>(times));
  for (std::int64_t at = 0; at < times; ++at) bytes += tensor.bytes;
  tensor.bytes = std::move(bytes);
  tensor.dims = dims;
  return true;
}

base::Result<Tensor> from_file(const OrtPort& port, const Tensor& content, const std::string& path,
                               const std::vector<std::int64_t>& dims) {
  if (content.type != port.type)
    return base::fail(ErrorCode::invalid_argument, "{}: holds {}, but input \"{}\" takes {}", path,
                      element_type_name(content.type), port.description.name, element_type_name(port.type))
        .hint("convert it with array.astype");
  Tensor tensor = content;
  const auto batch_axis = dynamic_batch_axis(port.description);
  if (tensor.dims == dims || (batch_axis && *batch_axis == 0 && repeat_to(tensor, dims))) return tensor;
  if (tensor.dims.size() != dims.size())
    return base::fail(ErrorCode::invalid_argument, "{}: has shape {}, but input \"{}\" takes {} dimensions ({})", path,
                      shape_text(content.dims), port.description.name, dims.size(), shape_text(dims))
        .hint("convert it with array.reshape, or give another file");
  return base::fail(ErrorCode::invalid_argument, "{}: has shape {}, but input \"{}\" is run with {}", path,
                    shape_text(content.dims), port.description.name, shape_text(dims))
      .hint("give --shape {}:{} or another file", port.description.name, shape_text(content.dims));
}

}  // namespace

base::Result<WorkloadInputs> make_workload_inputs(const std::vector<OrtPort>& ports,
                                                  const schema::WorkloadRef& workload, std::int64_t batch) {
  std::vector<TensorDescription> descriptions;
  for (const auto& port : ports) descriptions.push_back(port.description);
  const bool batch_is_free = std::any_of(descriptions.begin(), descriptions.end(),
                                         [](const auto& input) { return dynamic_batch_axis(input).has_value(); });
  if (batch > 1 && !batch_is_free)
    return base::fail(ErrorCode::invalid_argument,
                      "batch_size={}: the model has no input with a dynamic batch dimension", batch)
        .hint("leave it at 1");

  std::map<std::string, std::pair<Tensor, std::string>> files;
  for (const auto& file : workload.input_files) {
    RL_TRY(check_name(ports, file.name, "--input"));
    RL_TRY_ASSIGN(auto content, read_npy(file.path));
    files.insert_or_assign(file.name, std::pair(std::move(content), file.path));
  }

  WorkloadInputs inputs;
  double items = 0;
  const std::vector<ShapeSet> declared_only(1);
  for (const auto& given : workload.shapes.empty() ? declared_only : workload.shapes) {
    RL_TRY_ASSIGN(auto set, complete(ports, given));
    if (batch > 0) set = with_batch(descriptions, std::move(set), batch);
    const double own_items = items_of(ports, set);
    items += own_items;
    const auto* rules =
        inputs.members.size() < workload.input_values.size() ? &workload.input_values[inputs.members.size()] : nullptr;
    InputTensors tensors;
    for (std::size_t at = 0; at < ports.size(); ++at) {
      const auto& name = ports[at].description.name;
      const auto file = files.find(name);
      auto tensor = file != files.end()
                        ? from_file(ports[at], file->second.first, file->second.second, set[at].dims)
                        : generate_input(name, ports[at].type, set[at].dims, workload.seed, inputs.members.size(),
                                         values_for(rules, name), static_cast<std::int64_t>(own_items));
      if (!tensor) return tl::unexpected<base::Error>(std::move(tensor).error());
      tensors.push_back(std::move(*tensor));
    }
    inputs.members.push_back(std::move(tensors));
  }
  inputs.items_per_step = items / static_cast<double>(inputs.members.size());
  return inputs;
}

}  // namespace ridgeline::workload
