// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_inspector.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <utility>

#include "workload/element_type.hpp"
#include "workload/onnx/chosen_values.hpp"
#include "workload/onnx/dim_role.hpp"
#include "workload/onnx/external_data.hpp"
#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/model_cost.hpp"
#include "workload/onnx/model_file.hpp"
#include "workload/onnx/npy_file.hpp"
#include "workload/onnx/shape_choice.hpp"
#include "workload/onnx/shape_hints.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::ModelDescription;

/// The batch in the first shape set: a dynamic batch axis, else the first dimension that all tensor inputs of rank 2
/// and more share.
void recognise_batch(ModelDescription& description) {
  const auto& shapes = description.shapes.front();
  for (const auto& input : description.inputs) {
    const auto axis = dynamic_batch_axis(input);
    const auto shape =
        std::find_if(shapes.begin(), shapes.end(), [&](const auto& one) { return one.name == input.name; });
    if (!axis || shape == shapes.end() || *axis >= shape->dims.size()) continue;
    description.batch_is_dynamic = true;
    description.batch_axis_size = shape->dims[*axis];
    return;
  }
  for (const auto& input : description.inputs) {
    if (input.dims.size() < 2) continue;
    if (input.dims[0] < 0 || (description.batch_axis_size && *description.batch_axis_size != input.dims[0])) {
      description.batch_axis_size.reset();
      return;
    }
    description.batch_axis_size = input.dims[0];
  }
}

std::size_t contradictions_of(const onnx::ModelProto& model, const ShapeChoice& choice) {
  std::size_t count = 0;
  for (const auto& shapes : choice.sets)
    count += infer_shapes(model, shapes, [](const TypedNode&) {}).contradictions.size();
  return count;
}

bool could_be(const std::vector<std::int64_t>& dims, const schema::TensorDescription& input) {
  return dims.size() == input.dims.size() &&
         std::equal(dims.begin(), dims.end(), input.dims.begin(),
                    [](std::int64_t given, std::int64_t fixed) { return fixed < 0 || given == fixed; });
}

/// The user's shapes, with those of files given for inputs that no shape is given for. A file that does not fit its
/// input is reported when the input is made.
base::Result<std::vector<schema::ShapeSet>> shapes_and_files(const ModelDescription& description,
                                                             const InspectRequest& request) {
  auto wanted = request.workload.shapes;
  for (const auto& file : request.workload.input_files) {
    const auto input = std::find_if(description.inputs.begin(), description.inputs.end(),
                                    [&](const auto& one) { return one.name == file.name; });
    if (input == description.inputs.end()) continue;
    RL_TRY_ASSIGN(const auto content, read_npy(file.path));
    if (!could_be(content.dims, *input)) continue;
    if (wanted.empty()) wanted.emplace_back();
    for (auto& set : wanted)
      if (std::none_of(set.begin(), set.end(), [&](const auto& one) { return one.name == file.name; }))
        set.push_back({file.name, content.dims});
  }
  return wanted;
}

/// Takes nameless axes that are no first ones as batches.
ShapeHints with_inner_batches(ShapeHints hints, const ModelDescription& description) {
  for (const auto& input : description.inputs)
    for (std::size_t axis = 1; axis < input.dims.size(); ++axis)
      if (input.dims[axis] < 0 && role_of_dim_name(input.dim_names[axis]) == DimRole::unknown)
        hints.known.try_emplace({input.name, axis}, DimHint{1, messages::dim_usual_refused()});
  return hints;
}

/// Sides of images and lengths of sequences that models are commonly exported for, to try in place of the usual ones.
struct OtherSizes {
  std::int64_t side;
  std::int64_t length;
};
constexpr OtherSizes kOtherSizes[] = {{224, 256}, {256, 512}, {512, 1024}, {384, 2048}, {320, 4096},
                                      {416, 64},  {640, 32},  {128, 16},   {64, 224},   {32, 384},
                                      {16, 320},  {8, 8},     {1, 1}};

ShapeHints with_other_sizes(ShapeHints hints, OtherSizes sizes) {
  hints.other_side = sizes.side;
  hints.other_length = DimHint{sizes.length, messages::dim_length_fits()};
  return hints;
}

/// The user's shapes and the usual guesses; when the graph refuses the guesses, the first others that it accepts.
base::Result<ShapeChoice> choose_fitting_shapes(const onnx::ModelProto& model, const ModelDescription& description,
                                                const std::vector<schema::ShapeSet>& wanted, const ShapeHints& hints) {
  RL_TRY_ASSIGN(auto choice, choose_shapes(description.inputs, wanted, hints));
  if (!choice.guessed || contradictions_of(model, choice) == 0) return choice;
  std::vector<ShapeHints> others;
  for (const auto sizes : kOtherSizes) others.push_back(with_other_sizes(hints, sizes));
  const auto inner_batches = with_inner_batches(hints, description);
  others.push_back(inner_batches);
  for (const auto sizes : kOtherSizes) others.push_back(with_other_sizes(inner_batches, sizes));
  for (const auto& one : others) {
    RL_TRY_ASSIGN(auto other, choose_shapes(description.inputs, wanted, one));
    if (contradictions_of(model, other) == 0) return other;
  }
  return choice;
}

/// Shapes for one branch of a condition, where no sizes fit all branches.
RefitShapes refit_by(const onnx::ModelProto& model, const ModelDescription& description,
                     const std::vector<schema::ShapeSet>& wanted, const ShapeHints& hints) {
  return [&](std::size_t set, const std::map<std::string, SmallTensor>& values) -> std::optional<schema::ShapeSet> {
    const std::vector<schema::ShapeSet> one(1, set < wanted.size() ? wanted[set] : schema::ShapeSet());
    for (const auto sizes : kOtherSizes) {
      const auto choice = choose_shapes(description.inputs, one, with_other_sizes(hints, sizes));
      if (!choice || !choice->guessed) return std::nullopt;
      if (infer_shapes(model, choice->sets.front(), [](const TypedNode&) {}, {values, {}}).contradictions.empty())
        return choice->sets.front();
    }
    return std::nullopt;
  };
}

/// Nothing is timed of an input without elements. A vector without any is an argument that was left out (roi of Resize,
/// the shape of a scalar), and a file is what its user wants.
base::Result<void> check_elements(const ModelDescription& description, const schema::WorkloadRef& asked) {
  for (const auto& set : description.shapes)
    for (const auto& shape : set) {
      const auto input = std::find_if(description.inputs.begin(), description.inputs.end(),
                                      [&](const auto& one) { return one.name == shape.name; });
      const bool from_file = std::any_of(asked.input_files.begin(), asked.input_files.end(),
                                         [&](const auto& file) { return file.name == shape.name; });
      if (from_file || shape.dims.size() < 2 || input == description.inputs.end()) continue;
      if (std::find(shape.dims.begin(), shape.dims.end(), 0) == shape.dims.end()) continue;
      return base::fail(ErrorCode::invalid_argument,
                        "{}: the input \"{}\" of shape {} has no elements; expected at least one", asked.location,
                        shape.name, shape_text(shape.dims))
          .hint("export the model with a size, or none, in the place of 0, or give a file with --input {}:FILE.npy",
                shape.name);
    }
  return {};
}

base::Result<ModelDescription> inspect_onnx(const InspectRequest& request) {
  const std::filesystem::path path = request.workload.location;
  RL_TRY_ASSIGN(const auto file, load_model_file(path));
  const auto& model = file.model;
  ModelDescription description;
  description.path = path.string();
  description.file_bytes = file.bytes;
  RL_TRY_ASSIGN(const auto external, check_external_data(model, path));
  description.external_data_bytes = external.bytes;
  description.notes = external.notes;
  RL_TRY_ASSIGN(description.sha256, sha256_model(path, external));
  take_census(model, description);

  auto hints = collect_shape_hints(model, path, description.inputs, description.outputs);
  if (request.length) hints.other_length = DimHint{*request.length, messages::dim_others_refused()};
  RL_TRY_ASSIGN(const auto wanted, shapes_and_files(description, request));
  RL_TRY_ASSIGN(auto choice, choose_fitting_shapes(model, description, wanted, hints));
  description.shapes = std::move(choice.sets);
  description.shape_notes = std::move(choice.notes);
  RL_TRY(check_elements(description, request.workload));
  recognise_batch(description);
  RL_TRY_ASSIGN(auto values,
                choose_values(model, description, request.workload, refit_by(model, description, wanted, hints)));
  description.shapes = std::move(values.sets);
  description.input_values = std::move(values.values);
  description.input_notes = std::move(values.notes);
  estimate_cost(model, description);
  return description;
}

}  // namespace

base::Result<ModelDescription> inspect_onnx_model(const InspectRequest& request) {
  try {
    return inspect_onnx(request);
  } catch (const std::bad_alloc&) {
    return base::fail(ErrorCode::out_of_memory, "model {} does not fit in memory while it is read",
                      request.workload.location);
  } catch (const std::exception& error) {  // protobuf, libonnx and std::filesystem throw
    return base::fail(ErrorCode::internal, "model {} could not be inspected: {}", request.workload.location,
                      error.what());
  }
}

}  // namespace ridgeline::workload
