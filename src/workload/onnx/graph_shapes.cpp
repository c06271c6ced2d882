// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/graph_shapes.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

#include "workload/onnx/constant_folder.hpp"
#include "workload/onnx/fallback_shapes.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/node_attributes.hpp"
#include "workload/onnx/node_inference.hpp"

namespace ridgeline::workload {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;
using onnx::TypeProto;
using Opsets = std::map<std::string, std::int64_t>;

constexpr std::size_t kMostContradictions = 5;
constexpr int kDeepestNesting = 100;             // of functions calling functions: a cycle in the file must end
constexpr std::int64_t kMostVisits = 5'000'000;  // and one that branches must end soon

/// What is known of a value by its name.
struct Binding {
  const TypeProto* type = nullptr;
  const TensorProto* tensor = nullptr;
  const SmallTensor* value = nullptr;
  const Origin* origin = nullptr;
};

/// Names visible in a graph; subgraphs see those around them, functions do not.
struct Scope {
  std::unordered_map<std::string, Binding> names;
  std::unordered_map<std::string, const TypeProto*> declared;  // value_info and outputs of the graph
  const Scope* parent = nullptr;
  const Opsets* opsets = nullptr;
  int depth = 0;

  [[nodiscard]] Binding find(const std::string& name) const {
    for (const auto* scope = this; scope != nullptr; scope = scope->parent)
      if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
    return {};
  }
};

Opsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const auto& one : imports) opsets[normal_domain(one.domain())] = one.version();
  return opsets;
}

class Walker {
 public:
  Walker(const onnx::ModelProto& model, const std::function<void(const TypedNode&)>& visit, const WalkOptions& options)
      : model_(model), visit_(visit), options_(options), opsets_(opsets_of(model.opset_import())) {
    opsets_.try_emplace("", 1);  // what a file older than opset imports means
    for (const auto& function : model.functions())
      functions_[normal_domain(function.domain()) + ":" + function.name()] = &function;
  }

  ShapeReport run(const schema::ShapeSet& shapes) {
    Scope scope;
    scope.opsets = &opsets_;
    const auto& graph = model_.graph();
    for (const auto& input : graph.input()) {
      auto type = input.type();
      for (const auto& shape : shapes)
        if (shape.name == input.name() && type.has_tensor_type()) set_dims(input.type(), shape.dims, type);
      auto& binding = scope.names[input.name()];
      if (const auto value = options_.values.find(input.name()); value != options_.values.end())
        binding = bind_value(value->second);
      binding.type = keep(std::move(type));
      binding.origin = keep(origin_of_input(input.name(), *binding.type));
    }
    walk_graph(graph, scope, 1);
    return std::move(report_);
  }

 private:
  const TypeProto* keep(TypeProto type) { return &types_.emplace_back(std::move(type)); }
  const Origin* keep(Origin origin) {
    return origin.strands.empty() && !origin.counts ? nullptr : &origins_.emplace_back(std::move(origin));
  }

  /// Puts concrete sizes into a type and remembers which symbolic name got which size.
  void set_dims(const TypeProto& declared, const std::vector<std::int64_t>& dims, TypeProto& type) {
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    shape->clear_dim();
    const auto& old = declared.tensor_type().shape();
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      shape->add_dim()->set_dim_value(dims[axis]);
      if (static_cast<int>(axis) < old.dim_size() && old.dim(static_cast<int>(axis)).has_dim_param())
        symbols_.try_emplace(old.dim(static_cast<int>(axis)).dim_param(), dims[axis]);
    }
  }

  Binding bind_value(SmallTensor value) {
    const auto& small = values_.emplace_back(std::move(value));
    const auto& tensor = tensors_.emplace_back(write_small_tensor(small));
    return {keep(type_of(tensor)), &tensor, &small, nullptr};
  }

  static TypeProto type_of(const TensorProto& tensor) {
    TypeProto type;
    type.mutable_tensor_type()->set_elem_type(tensor.data_type());
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    for (const auto dim : tensor.dims()) shape->add_dim()->set_dim_value(dim);
    return type;
  }

  void bind_initializers(const GraphProto& graph, Scope& scope) {
    for (const auto& tensor : graph.initializer()) {
      Binding binding{keep(type_of(tensor)), nullptr, nullptr, nullptr};
      if (auto value = read_small_tensor(tensor)) {
        binding.value = &values_.emplace_back(std::move(*value));
        binding.tensor = &tensor;
      }
      scope.names[tensor.name()] = binding;
    }
    for (const auto& sparse : graph.sparse_initializer()) {
      TypeProto type;
      type.mutable_tensor_type()->set_elem_type(sparse.values().data_type());
      for (const auto dim : sparse.dims()) type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
      scope.names[sparse.values().name()] = {keep(std::move(type)), nullptr, nullptr, nullptr};
    }
    for (const auto& info : graph.value_info()) scope.declared[info.name()] = &info.type();
    for (const auto& info : graph.output()) scope.declared[info.name()] = &info.type();
  }

  std::vector<Binding> walk_graph(const GraphProto& graph, Scope& scope, double repeats) {
    bind_initializers(graph, scope);
    for (const auto& node : graph.node()) walk_node(node, scope, repeats);
    std::vector<Binding> outputs;
    for (const auto& output : graph.output()) outputs.push_back(scope.find(output.name()));
    return outputs;
  }

  std::vector<Binding> walk_subgraph(const GraphProto& graph, const std::vector<Binding>& inputs, const Scope& parent,
                                     double repeats) {
    Scope scope;
    scope.parent = &parent;
    scope.opsets = parent.opsets;
    scope.depth = parent.depth + 1;
    for (int i = 0; i < graph.input_size(); ++i) {
      auto binding = static_cast<std::size_t>(i) < inputs.size() ? inputs[static_cast<std::size_t>(i)] : Binding{};
      if (binding.type == nullptr) binding.type = &graph.input(i).type();
      scope.names[graph.input(i).name()] = binding;
    }
    return walk_graph(graph, scope, repeats);
  }

  void walk_node(const NodeProto& node, Scope& scope, double repeats) {
    if (++visits_ > kMostVisits) return;
    std::vector<Binding> inputs;
    for (const auto& name : node.input()) inputs.push_back(name.empty() ? Binding{} : scope.find(name));
    const auto domain = normal_domain(node.domain());
    std::vector<Binding> outputs;
    if (const auto function = functions_.find(domain + ":" + node.op_type());
        function != functions_.end() && scope.depth < kDeepestNesting) {
      outputs = call_function(*function->second, node, inputs, scope, repeats);
    } else if (domain.empty() && node.op_type() == "If") {
      outputs = walk_if(node, inputs, scope, repeats);
    } else if (domain.empty() && node.op_type() == "Loop") {
      outputs = walk_loop(node, inputs, scope, repeats);
    } else {
      outputs = walk_operator(node, inputs, scope, repeats);
    }
    for (int i = 0; i < node.output_size() && static_cast<std::size_t>(i) < outputs.size(); ++i)
      if (!node.output(i).empty()) scope.names[node.output(i)] = outputs[static_cast<std::size_t>(i)];
  }

  std::vector<Binding> call_function(const onnx::FunctionProto& function, const NodeProto& call,
                                     const std::vector<Binding>& inputs, const Scope& caller, double repeats) {
    auto& opsets = function_opsets_.emplace_back(opsets_of(function.opset_import()));
    for (const auto& [domain, version] : opsets_) opsets.try_emplace(domain, version);
    Scope scope;
    scope.opsets = &opsets;
    scope.depth = caller.depth + 1;
    for (int i = 0; i < function.input_size() && static_cast<std::size_t>(i) < inputs.size(); ++i)
      scope.names[function.input(i)] = inputs[static_cast<std::size_t>(i)];
    for (const auto& node : function.node()) walk_node(with_attributes(node, call), scope, repeats);
    std::vector<Binding> outputs;
    for (const auto& name : function.output()) outputs.push_back(scope.find(name));
    return outputs;
  }

  /// The node with attributes that refer to the function's own replaced by the caller's values.
  const NodeProto& with_attributes(const NodeProto& node, const NodeProto& call) {
    bool refers = false;
    for (const auto& attribute : node.attribute()) refers = refers || !attribute.ref_attr_name().empty();
    if (!refers) return node;
    auto& copy = nodes_.emplace_back(node);
    copy.clear_attribute();
    for (const auto& attribute : node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *copy.add_attribute() = attribute;
      } else if (const auto* given = find_attribute(call, attribute.ref_attr_name()); given != nullptr) {
        *copy.add_attribute() = *given;
        copy.mutable_attribute(copy.attribute_size() - 1)->set_name(attribute.name());
      }
    }
    return copy;
  }

  std::vector<Binding> walk_if(const NodeProto& node, const std::vector<Binding>& inputs, const Scope& scope,
                               double repeats) {
    const auto* yes = find_attribute(node, "then_branch");
    const auto* no = find_attribute(node, "else_branch");
    if (yes == nullptr || no == nullptr || inputs.empty()) return walk_operator(node, inputs, scope, repeats);
    if (const auto* condition = inputs[0].value; condition != nullptr && condition->values.size() == 1)
      return walk_subgraph(condition->values[0] != 0 ? yes->g() : no->g(), {}, scope, repeats);
    report_.unknown_branch = true;
    tell_control(node, inputs, repeats);
    auto outputs = walk_subgraph(yes->g(), {}, scope, repeats / 2);
    const auto others = walk_subgraph(no->g(), {}, scope, repeats / 2);
    for (std::size_t i = 0; i < outputs.size() && i < others.size(); ++i) {
      const auto dims = concrete_dims(outputs[i].type);
      if (!dims || dims != concrete_dims(others[i].type)) outputs[i].type = nullptr;
      outputs[i].tensor = nullptr;
      outputs[i].value = nullptr;
      if (others[i].origin == nullptr) continue;
      Origin both = outputs[i].origin != nullptr ? *outputs[i].origin : Origin{};
      both.elements.clear();
      both.strands.insert(both.strands.end(), others[i].origin->strands.begin(), others[i].origin->strands.end());
      outputs[i].origin = keep(std::move(both));
    }
    return outputs;
  }

  void tell_control(const NodeProto& node, const std::vector<Binding>& inputs, double repeats) {
    if (!options_.open_control) return;
    TypedNode typed{node, {}, {}, repeats};
    for (const auto& input : inputs) {
      typed.inputs.push_back(input.type);
      typed.known.push_back({input.type, input.value, input.origin});
    }
    options_.open_control(typed);
  }

  /// Loop state keeps the shape of the first round: libonnx drops it, since it may change, but it rarely does.
  std::vector<Binding> walk_loop(const NodeProto& node, const std::vector<Binding>& inputs, const Scope& scope,
                                 double repeats) {
    const auto* body = find_attribute(node, "body");
    if (body == nullptr || inputs.size() < 2) return walk_operator(node, inputs, scope, repeats);
    std::optional<double> trips;
    if (const auto* most = inputs[0].value; most != nullptr && most->values.size() == 1)
      trips = std::max(0.0, most->values[0]);
    if (!trips) report_.unknown_trip_count = true;
    tell_control(node, inputs, repeats);
    std::vector<Binding> state(inputs.begin(), inputs.end());
    for (auto& one : state) one = {one.type, nullptr, nullptr, one.origin};
    if (const auto* count = state[0].origin; count != nullptr) {  // the number of a round is at most this
      auto last = *count;
      last.elements.clear();
      for (auto& strand : last.strands) {
        strand.least_offset -= 1;
        strand.most_offset -= 1;
      }
      state[0].origin = keep(std::move(last));
    }
    const auto results = walk_subgraph(body->g(), state, scope, repeats * trips.value_or(1));
    std::vector<Binding> outputs;
    const auto carried = state.size() - 2;
    for (std::size_t i = 1; i < results.size(); ++i) {
      Binding output{results[i].type, nullptr, nullptr, nullptr};
      if (i > carried) output.type = stacked(results[i].type, trips);
      outputs.push_back(output);
    }
    return outputs;
  }

  const TypeProto* stacked(const TypeProto* each, std::optional<double> trips) {
    const auto dims = concrete_dims(each);
    if (!dims || !trips) return nullptr;
    TypeProto type;
    type.mutable_tensor_type()->set_elem_type(each->tensor_type().elem_type());
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    shape->add_dim()->set_dim_value(static_cast<std::int64_t>(std::min(*trips, 1e9)));
    for (const auto dim : *dims) shape->add_dim()->set_dim_value(dim);
    return keep(std::move(type));
  }

  std::vector<Binding> walk_operator(const NodeProto& node, const std::vector<Binding>& inputs, const Scope& scope,
                                     double repeats) {
    std::vector<const TypeProto*> types;
    std::vector<const TensorProto*> tensors;
    std::vector<FoldInput> fold_inputs;
    std::vector<KnownInput> known;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      known.push_back({inputs[i].type, inputs[i].value, inputs[i].origin});
      types.push_back(inputs[i].type);
      tensors.push_back(inputs[i].tensor);
      fold_inputs.push_back({!node.input(static_cast<int>(i)).empty(), inputs[i].type, inputs[i].value});
    }
    std::vector<Binding> outputs(static_cast<std::size_t>(node.output_size()));
    bool folded = normal_domain(node.domain()).empty() && node.op_type() == "Constant";
    if (auto value = normal_domain(node.domain()).empty() ? fold_node(node, fold_inputs) : std::nullopt) {
      outputs[0] = bind_value(std::move(*value));
      folded = true;
    } else {
      const auto scan_repeats = node.op_type() == "Scan" ? scan_trips(node, inputs) : 1;
      const SubgraphInference subgraph = [&](const GraphProto& graph, const std::vector<const TypeProto*>& given) {
        std::vector<Binding> bindings;
        for (const auto* type : given)
          bindings.push_back({type != nullptr ? keep(*type) : nullptr, nullptr, nullptr, nullptr});
        // A body's inputs are those of the node, one by one or one element after another.
        for (std::size_t i = 0; i < bindings.size() && given.size() == inputs.size(); ++i)
          if (inputs[i].origin != nullptr) {
            auto moved = *inputs[i].origin;
            moved.elements.clear();
            bindings[i].origin = keep(std::move(moved));
          }
        std::vector<const TypeProto*> results;
        if (scope.depth < kDeepestNesting)
          for (const auto& one : walk_subgraph(graph, bindings, scope, repeats * scan_repeats))
            results.push_back(one.type);
        results.resize(static_cast<std::size_t>(graph.output_size()));
        for (int i = 0; i < graph.output_size(); ++i)  // libonnx follows these pointers unseen
          if (auto& type = results[static_cast<std::size_t>(i)]; type == nullptr) type = &graph.output(i).type();
        return results;
      };
      auto result = apply_shape_rule(node, *scope.opsets, types, tensors, subgraph);
      note_outcome(node, result);
      for (std::size_t i = 0; i < outputs.size(); ++i)
        outputs[i].type =
            settle(node, i, i < result.outputs.size() ? std::move(result.outputs[i]) : TypeProto{}, types, scope);
    }
    if (std::any_of(known.begin(), known.end(), [](const auto& one) { return one.origin != nullptr; }) ||
        node.op_type() == "Range") {
      auto origins = follow_origins(node, known);
      for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].origin = keep(std::move(origins[i]));
    }
    std::vector<const TypeProto*> output_types;
    bool shapeless = false;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      output_types.push_back(outputs[i].type);
      const bool tensor = outputs[i].type == nullptr || outputs[i].type->has_tensor_type();
      shapeless = shapeless || (tensor && !node.output(static_cast<int>(i)).empty() && !concrete_dims(outputs[i].type));
    }
    if (shapeless) ++report_.shapeless_nodes;
    visit_({node, std::move(types), std::move(output_types), repeats, folded, std::move(known)});
    return outputs;
  }

  double scan_trips(const NodeProto& node, const std::vector<Binding>& inputs) {
    const auto count = attribute_int(node, "num_scan_inputs", 0);
    const auto axes = attribute_ints(node, "scan_input_axes");
    const auto axis = axes && !axes->empty() ? axes->front() : 0;
    if (count > 0 && count <= static_cast<std::int64_t>(inputs.size())) {
      const auto dims = concrete_dims(inputs[inputs.size() - static_cast<std::size_t>(count)].type);
      if (dims && axis >= 0 && axis < static_cast<std::int64_t>(dims->size()))
        return static_cast<double>((*dims)[static_cast<std::size_t>(axis)]);
    }
    report_.unknown_trip_count = true;
    return 1;
  }

  void note_outcome(const NodeProto& node, const RuleResult& result) {
    if (result.outcome == RuleOutcome::no_rule) ++report_.unknown_operators[operator_name(node)];
    if (result.outcome == RuleOutcome::contradiction && report_.contradictions.size() < kMostContradictions)
      report_.contradictions.push_back(
          fmt::format("{} {}: {}", operator_name(node),
                      node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name(), result.message));
  }

  /// The type of one output: what the rule said, completed by what the file declares, else by the fallbacks.
  const TypeProto* settle(const NodeProto& node, std::size_t index, TypeProto inferred,
                          const std::vector<const TypeProto*>& inputs, const Scope& scope) {
    if (concrete_dims(&inferred)) return keep(std::move(inferred));
    if (index == 0)
      if (auto type = fallback_type(node, inputs); type && concrete_dims(&*type)) return keep(std::move(*type));
    const auto found = scope.declared.find(node.output(static_cast<int>(index)));
    if (found == scope.declared.end())
      return inferred.value_case() != TypeProto::VALUE_NOT_SET ? keep(std::move(inferred)) : nullptr;
    auto declared = *found->second;
    if (declared.has_tensor_type() && declared.tensor_type().has_shape())
      for (auto& dim : *declared.mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (const auto bound = symbols_.find(dim.dim_param()); dim.has_dim_param() && bound != symbols_.end())
          dim.set_dim_value(bound->second);
    if (inferred.has_tensor_type() && inferred.tensor_type().has_shape() && !concrete_dims(&declared))
      complete(inferred.tensor_type().shape(), declared);
    return keep(std::move(declared));
  }

  static void complete(const onnx::TensorShapeProto& inferred, TypeProto& declared) {
    if (!declared.has_tensor_type()) return;
    auto* shape = declared.mutable_tensor_type()->mutable_shape();
    if (shape->dim_size() != inferred.dim_size()) {
      *shape = inferred;
      return;
    }
    for (int axis = 0; axis < shape->dim_size(); ++axis)
      if (inferred.dim(axis).has_dim_value()) *shape->mutable_dim(axis) = inferred.dim(axis);
  }

  const onnx::ModelProto& model_;
  const std::function<void(const TypedNode&)>& visit_;
  const WalkOptions& options_;
  Opsets opsets_;
  std::map<std::string, const onnx::FunctionProto*> functions_;
  std::map<std::string, std::int64_t> symbols_;
  ShapeReport report_;
  std::int64_t visits_ = 0;
  // Owners of what bindings point to: deques keep addresses while they grow.
  std::deque<TypeProto> types_;
  std::deque<TensorProto> tensors_;
  std::deque<SmallTensor> values_;
  std::deque<Origin> origins_;
  std::deque<NodeProto> nodes_;
  std::deque<Opsets> function_opsets_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> concrete_dims(const TypeProto* type) {
  if (type == nullptr || !type->has_tensor_type() || !type->tensor_type().has_shape()) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const auto& dim : type->tensor_type().shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0) return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  return dims;
}

ShapeReport infer_shapes(const onnx::ModelProto& model, const schema::ShapeSet& shapes,
                         const std::function<void(const TypedNode&)>& visit) {
  const WalkOptions none;
  return infer_shapes(model, shapes, visit, none);
}

ShapeReport infer_shapes(const onnx::ModelProto& model, const schema::ShapeSet& shapes,
                         const std::function<void(const TypedNode&)>& visit, const WalkOptions& options) {
  return Walker(model, visit, options).run(shapes);
}

}  // namespace ridgeline::workload
