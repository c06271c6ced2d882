// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/input_checks.hpp"

#include <algorithm>

#include "workload/element_type.hpp"
#include "workload/onnx/dim_role.hpp"
#include "workload/onnx/npy_file.hpp"
#include "workload/workload.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

namespace {

std::int64_t nonfinite_values(const workload::NamedTensor& tensor) {
  return workload::compare_outputs({tensor}, {tensor}).nonfinite;
}

}  // namespace

Result<void> check_input_types(const schema::ModelDescription& model) {
  for (const auto& input : model.inputs) {
    const auto& type = input.element_type;
    if (type.find('(') == std::string::npos && type != "string") continue;
    return base::fail(ErrorCode::unsupported,
                      "{}: input \"{}\" has type {}; expected tensors of numbers or bool only, which can be generated "
                      "or read from .npy",
                      model.path, input.name, type)
        .hint("export the part of the model behind it");
  }
  return {};
}

Result<void> check_shapes_and_batch(const schema::WorkloadRef& asked, const schema::ModelDescription& model,
                                    const search::SpaceRequest& space) {
  const auto words = space.asked_by.find("batch_size");
  if (words == space.asked_by.end()) return {};
  std::vector<schema::Value> batches;
  if (const auto* pin = space.fixed.find("batch_size")) batches.push_back(*pin);
  for (const auto& dimension : space.values)
    if (dimension.key == "batch_size") batches.insert(batches.end(), dimension.values.begin(), dimension.values.end());
  for (const auto& set : asked.shapes)
    for (const auto& shape : set) {
      const auto input = std::find_if(model.inputs.begin(), model.inputs.end(),
                                      [&](const auto& one) { return one.name == shape.name; });
      if (input == model.inputs.end()) continue;
      const auto axis = workload::dynamic_batch_axis(*input);
      if (!axis || *axis >= shape.dims.size() || shape.dims[*axis] == 1) continue;
      const auto size = shape.dims[*axis];
      if (std::find(batches.begin(), batches.end(), schema::Value(size)) != batches.end()) continue;
      return base::fail(ErrorCode::invalid_argument, "--shape {}:{} has batch {} on axis {}, but {} asks for another",
                        shape.name, workload::shape_text(shape.dims), size, *axis, words->second)
          .hint("give 1 there, or leave one of the two out");
    }
  return {};
}

std::string nonfinite_input_file(const schema::WorkloadRef& asked) {
  for (const auto& file : asked.input_files) {
    const auto content = workload::read_npy(file.path);
    if (!content) continue;
    const auto count = nonfinite_values(
        {file.name, std::string(workload::element_type_name(content->type)), content->dims, content->bytes});
    if (count > 0)
      return fmt::format("--input {}:{} holds {} NaN or Inf value{}", file.name, file.path, count,
                         count == 1 ? "" : "s");
  }
  return {};
}

base::Error nonfinite_outputs(const schema::WorkloadRef& asked, const std::filesystem::path& outputs,
                              const schema::OutputError& output_error) {
  auto name = output_error.worst_output;
  auto count = output_error.nonfinite;
  if (const auto sets = workload::load_outputs(outputs))
    for (const auto& output : *sets)
      if (const auto own = nonfinite_values(output); own > 0) {
        name = output.name;
        count = own;
        break;
      }
  const auto file = nonfinite_input_file(asked);
  return {
      ErrorCode::invalid_argument,
      fmt::format("{}: output \"{}\" holds {} NaN or Inf value{} with the inputs given; expected finite numbers{}{}",
                  asked.location, name, count, count == 1 ? "" : "s", file.empty() ? "" : ": ", file),
      fmt::format("{}, or skip the check with --accuracy-tolerance off",
                  !file.empty()               ? "give a file without them"
                  : asked.input_files.empty() ? "give real inputs with --input NAME:FILE.npy"
                                              : "give other inputs with --input NAME:FILE.npy")};
}

}  // namespace ridgeline::campaign
