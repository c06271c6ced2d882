// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "workload/onnx/input_uses.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

using Dims = std::vector<std::int64_t>;
using Wanted = std::vector<std::optional<double>>;
using What = messages::InputArgumentWhat;

constexpr std::int64_t kUsualLength = 128;
constexpr std::int64_t kUsualBest = 100;  // of a TopK or of the boxes that are kept

Wanted wanted(const Dims& values) { return {values.begin(), values.end()}; }

std::size_t count_of(const TypedNode& node, std::size_t input) {
  return input < node.known.size() ? elements_of(node.known[input]).size() : 0;
}

/// KnownSizes at the positions of a shape argument: those that the graph declares for the result, else the data's own,
/// of which the last are the argument's last.
Wanted result_sizes(const TypedNode& node, std::size_t argument, bool of_data) {
  const auto count = count_of(node, argument);
  const auto declared = output_sizes(node);
  const auto data = of_data ? dims_of(node, 0).value_or(Dims{}) : Dims{};
  Wanted sizes(std::max<std::size_t>(count, 1), 1.0);
  for (std::size_t at = 0; at < count; ++at) {
    if (declared.size() == count && declared[at]) {
      sizes[at] = static_cast<double>(*declared[at]);
    } else if (const auto missing = count - std::min(count, data.size()); at >= missing && data.size() <= count) {
      sizes[at] = static_cast<double>(data[at - missing]);
    }
  }
  return sizes;
}

void want_shape(const TypedNode& node, std::size_t argument, bool of_data, UseCollector& collector) {
  collector.want(node, argument, result_sizes(node, argument, of_data), argument_of(node.node, What::shape));
}

/// A shape of the same number of elements.
void want_reshape(const TypedNode& node, UseCollector& collector) {
  if (strands_of(node, 1) == nullptr) return;
  const auto elements = elements_of(node.known[1]);
  const auto data = dims_of(node, 0);
  const auto declared = output_sizes(node);
  Wanted sizes(std::max<std::size_t>(elements.size(), 1), 1.0);
  if (!data) {
    sizes.back() = -1;
  } else {
    std::int64_t rest = 1;
    for (const auto dim : *data) rest *= dim;
    bool open = false;  // a -1 that takes what is left
    std::vector<std::size_t> free;
    for (std::size_t at = 0; at < elements.size(); ++at) {
      auto size = elements[at].value;
      if (size && *size == -1) open = true;
      if (size && *size == 0 && at < data->size()) size = static_cast<double>((*data)[at]);
      if (!size && declared.size() == elements.size() && declared[at]) size = static_cast<double>(*declared[at]);
      if (!size) free.push_back(at);
      if (size && *size >= 1 && rest % static_cast<std::int64_t>(*size) == 0) rest /= static_cast<std::int64_t>(*size);
      if (size) sizes[at] = size;
    }
    for (const auto at : free) {
      const auto own = at < data->size() ? (*data)[at] : 1;
      const bool last = at == free.back() && !open;
      const auto size = last ? rest : own > 0 && rest % own == 0 ? own : 1;
      sizes[at] = static_cast<double>(size);
      if (size > 0) rest /= size;
    }
  }
  collector.want(node, 1, sizes, argument_of(node.node, What::shape));
}

void want_resize(const TypedNode& node, std::size_t scales, std::size_t sizes, UseCollector& collector) {
  const auto reason = argument_of(node.node, What::result);
  const auto data = dims_of(node, 0);
  const auto declared = output_sizes(node);
  auto wanted_sizes = result_sizes(node, sizes, true);
  const auto axes = attribute_ints(node.node, "axes");
  for (std::size_t at = 0; axes && data && at < axes->size() && at < wanted_sizes.size(); ++at)
    if (const auto axis = (*axes)[at] + ((*axes)[at] < 0 ? static_cast<std::int64_t>(data->size()) : 0);
        axis >= 0 && axis < static_cast<std::int64_t>(data->size()))
      wanted_sizes[at] = static_cast<double>((*data)[static_cast<std::size_t>(axis)]);
  collector.want(node, sizes, wanted_sizes, reason);
  Wanted factors(std::max<std::size_t>(count_of(node, scales), 1), 1.0);
  for (std::size_t at = 0; data && at < factors.size() && declared.size() == data->size() && at < data->size(); ++at)
    if (factors.size() == data->size() && declared[at] && (*data)[at] > 0 && *declared[at] % (*data)[at] == 0)
      factors[at] = static_cast<double>(*declared[at] / (*data)[at]);
  collector.want(node, scales, factors, argument_of(node.node, What::factors));
}

Wanted counting(std::size_t count, std::int64_t from) {
  Wanted values;
  for (std::size_t at = 0; at < std::max<std::size_t>(count, 1); ++at)
    values.emplace_back(static_cast<double>(from + static_cast<std::int64_t>(at)));
  return values;
}

void want_slice(const TypedNode& node, UseCollector& collector) {
  const auto data = dims_of(node, 0);
  collector.want(node, 1, 0, argument_of(node.node, What::start));
  collector.want(node, 3, counting(count_of(node, 3), 0), argument_of(node.node, What::axes));
  collector.want(node, 4, 1, argument_of(node.node, What::steps));
  const auto count = count_of(node, 2);
  Wanted ends(std::max<std::size_t>(count, 1), static_cast<double>(std::int64_t{1} << 30));
  const auto* axes = node.known.size() > 3 ? node.known[3].value : nullptr;
  for (std::size_t at = 0; data && at < ends.size(); ++at) {
    auto axis = axes != nullptr && at < axes->values.size() ? axes->integers()[at] : static_cast<std::int64_t>(at);
    if (axis < 0) axis += static_cast<std::int64_t>(data->size());
    if (axis >= 0 && axis < static_cast<std::int64_t>(data->size()))
      ends[at] = static_cast<double>((*data)[static_cast<std::size_t>(axis)]);
  }
  collector.want(node, 2, ends, argument_of(node.node, What::end));
}

/// Axes of the size 1, which can be taken away.
Wanted single_axes(const TypedNode& node, std::size_t count) {
  Wanted axes;
  const auto dims = dims_of(node, 0).value_or(Dims{});
  for (std::size_t axis = 0; axis < dims.size() && axes.size() < count; ++axis)
    if (dims[axis] == 1) axes.emplace_back(static_cast<double>(axis));
  return axes.size() == count ? axes : counting(count, 0);
}

void want_range(const TypedNode& node, UseCollector& collector) {
  const auto known = [&](std::size_t input, double otherwise) {
    const auto* value = input < node.known.size() ? node.known[input].value : nullptr;
    return value != nullptr && value->values.size() == 1 ? value->values[0] : otherwise;
  };
  const auto sizes = output_sizes(node);
  const auto length = sizes.size() == 1 && sizes[0] ? *sizes[0] : kUsualLength;
  const double step = known(2, 1);
  collector.want(node, 0, known(1, static_cast<double>(length)) - static_cast<double>(length) * step,
                 argument_of(node.node, What::start));
  collector.want(node, 1, known(0, 0) + static_cast<double>(length) * step,
                 argument_of(node.node, What::range_end, length));
  collector.want(node, 2, 1, argument_of(node.node, What::step));
}

void want_split(const TypedNode& node, UseCollector& collector) {
  const auto data = dims_of(node, 0);
  if (!data || data->empty()) return;
  auto axis = attribute_int(node.node, "axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(data->size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(data->size())) return;
  const auto size = (*data)[static_cast<std::size_t>(axis)];
  const auto parts = static_cast<std::int64_t>(std::max<std::size_t>(count_of(node, 1), 1));
  Dims sizes(static_cast<std::size_t>(parts), size / parts);
  sizes.back() += size % parts;
  collector.want(node, 1, wanted(sizes), argument_of(node.node, What::parts));
}

void want_best(const TypedNode& node, UseCollector& collector) {
  const auto data = dims_of(node, 0);
  const auto sizes = output_sizes(node);
  auto axis = attribute_int(node.node, "axis", -1);
  const auto rank = static_cast<std::int64_t>(data ? data->size() : sizes.size());
  if (axis < 0) axis += rank;
  auto count = kUsualBest;
  if (data && axis >= 0 && axis < rank) count = std::min(count, (*data)[static_cast<std::size_t>(axis)]);
  if (axis >= 0 && axis < static_cast<std::int64_t>(sizes.size()))
    count = sizes[static_cast<std::size_t>(axis)].value_or(count);
  collector.want(node, 1, static_cast<double>(std::max<std::int64_t>(count, 1)), argument_of(node.node, What::kept));
}

using Handler = std::function<void(const TypedNode&, UseCollector&)>;

/// A fixed value for one input.
Handler fixed(std::size_t input, double value, What what) {
  return [=](const TypedNode& node, UseCollector& collector) {
    collector.want(node, input, value, argument_of(node.node, what));
  };
}

Handler shape_argument(std::size_t input, bool of_data) {
  return [=](const TypedNode& node, UseCollector& collector) { want_shape(node, input, of_data, collector); };
}

const std::map<std::string, Handler>& handlers() {
  static const std::map<std::string, Handler> rows = [] {
    std::map<std::string, Handler> table = {
        {"Reshape", want_reshape},
        {"Expand", shape_argument(1, true)},
        {"ConstantOfShape", shape_argument(0, false)},
        {"CenterCropPad", shape_argument(1, true)},
        {"AffineGrid", shape_argument(1, false)},
        {"Tile", fixed(1, 1, What::repeats)},
        {"Pad",
         [](const TypedNode& node, UseCollector& collector) {
           collector.want(node, 1, 0, argument_of(node.node, What::amounts));
           collector.want(node, 3, counting(count_of(node, 3), 0), argument_of(node.node, What::axes));
         }},
        {"Resize", [](const TypedNode& node, UseCollector& collector) { want_resize(node, 2, 3, collector); }},
        {"Upsample", [](const TypedNode& node, UseCollector& collector) { want_resize(node, 1, 9, collector); }},
        {"Slice", want_slice},
        {"Range", want_range},
        {"Split", want_split},
        {"TopK", want_best},
        {"Unsqueeze",
         [](const TypedNode& node, UseCollector& collector) {
           collector.want(node, 1, counting(count_of(node, 1), 0), argument_of(node.node, What::axes));
         }},
        {"Squeeze",
         [](const TypedNode& node, UseCollector& collector) {
           collector.want(node, 1, single_axes(node, std::max<std::size_t>(count_of(node, 1), 1)),
                          argument_of(node.node, What::axes));
         }},
        {"OneHot",
         [](const TypedNode& node, UseCollector& collector) {
           const auto sizes = output_sizes(node);
           auto axis = attribute_int(node.node, "axis", -1);
           if (axis < 0) axis += static_cast<std::int64_t>(sizes.size());
           auto depth = kUsualBest;
           if (axis >= 0 && axis < static_cast<std::int64_t>(sizes.size()))
             depth = sizes[static_cast<std::size_t>(axis)].value_or(depth);
           collector.want(node, 1, static_cast<double>(depth), argument_of(node.node, What::depth));
         }},
        {"NonMaxSuppression", fixed(2, static_cast<double>(kUsualBest), What::boxes)},
        {"CumSum", fixed(1, 0, What::axis)},
        {"Trilu", fixed(1, 0, What::diagonal)},
        {"SequenceAt", fixed(1, 0, What::position)},
        {"SequenceErase", fixed(1, 0, What::position)},
        {"SequenceInsert", fixed(2, 0, What::position)},
        {"Dropout", fixed(2, 0, What::training)},
        {"TensorScatter", fixed(2, 0, What::position)},
        {"MelWeightMatrix",
         [](const TypedNode& node, UseCollector& collector) {
           const double usual[] = {80, 512, 16000, 0, 8000};  // Whisper's
           for (std::size_t at = 0; at < 5; ++at)
             collector.want(node, at, usual[at], argument_of(node.node, What::usual));
         }},
    };
    for (const char* name : {"HannWindow", "HammingWindow", "BlackmanWindow"})
      table.emplace(name, fixed(0, static_cast<double>(kUsualLength), What::size));
    for (const char* name : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                             "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"})
      table.emplace(name, [](const TypedNode& node, UseCollector& collector) {
        const auto rank = static_cast<std::int64_t>(dims_of(node, 0).value_or(Dims{}).size());
        const auto count = count_of(node, 1);
        const auto from = std::max<std::int64_t>(0, rank - static_cast<std::int64_t>(std::max<std::size_t>(count, 1)));
        collector.want(node, 1, counting(count, from), argument_of(node.node, What::axes));
      });
    return table;
  }();
  return rows;
}

}  // namespace

void collect_argument_uses(const TypedNode& node, UseCollector& collector) {
  if (!normal_domain(node.node.domain()).empty()) return;
  if (const auto row = handlers().find(node.node.op_type()); row != handlers().end()) row->second(node, collector);
}

}  // namespace ridgeline::workload
