// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/loading_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/ranges.h>

#include "base/json.hpp"
#include "workload/onnx/dim_role.hpp"

namespace ridgeline::workload {
namespace {

constexpr int kNumbersOfRange = 1009;  // of a range in the C++ program, over and over

constexpr std::string_view kPythonLoop = R"(
types = {"float": "f4", "double": "f8", "float16": "f2", "bool": "?", "int64": "i8", "int32": "i4", "int16": "i2",
         "int8": "i1", "uint64": "u8", "uint32": "u4", "uint16": "u2", "uint8": "u1"}
random = np.random.default_rng(1)
feeds = {}
for entry in session.get_inputs():
    if entry.name in files:
        feeds[entry.name] = np.load(files[entry.name])
    elif entry.name in values:
        kind = np.dtype(types[entry.type[len("tensor("):-1]])
        low, high, elements = values[entry.name]
        made = np.resize(elements, shapes[entry.name]) if elements else random.integers(low, high + 1, shapes[entry.name])
        feeds[entry.name] = made.astype(kind)
    elif entry.name in shapes:
        kind = np.dtype(types[entry.type[len("tensor("):-1]])
        values = random.random(shapes[entry.name]) if kind.kind == "f" else random.integers(0, 2, shapes[entry.name])
        feeds[entry.name] = values.astype(kind)
for _ in range(3):
    session.run(None, feeds)
times = []
while len(times) < 5 or (sum(times) < 1 and len(times) < 10000):
    begun = time.perf_counter()
    session.run(None, feeds)
    times.append(time.perf_counter() - begun)
with open(os.environ["RIDGELINE_METRICS_FILE"], "w") as out:
    print("median_s", statistics.median(times), file=out)
)";

constexpr std::string_view kCppLoop = R"(
template <typename T>
void fill(Ort::Value& value, std::size_t count, bool floats, const std::vector<double>* given) {
  auto* data = static_cast<T*>(value.GetTensorMutableRawData());
  for (std::size_t i = 0; i < count; ++i)
    data[i] = given != nullptr ? static_cast<T>((*given)[i % given->size()]) : floats ? static_cast<T>(static_cast<double>(i * 7919 % 1009) / 1009) : static_cast<T>(i % 2);
}

int main() {
  try {
    auto session = open_session(model);
    Ort::AllocatorWithDefaultOptions allocator;
    std::vector<std::string> names;
    std::vector<Ort::Value> inputs;
    for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
      names.emplace_back(session.GetInputNameAllocated(i, allocator).get());
      const auto type = session.GetInputTypeInfo(i).GetTensorTypeAndShapeInfo().GetElementType();
      const auto& shape = shapes.at(names.back());
      std::size_t count = 1;
      for (const auto size : shape) count *= static_cast<std::size_t>(size);
      inputs.push_back(Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), type));
      const auto rule = values.find(names.back());
      const auto* given = rule == values.end() ? nullptr : &rule->second;
      switch (type) {
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: fill<float>(inputs.back(), count, true, given); break;
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: fill<double>(inputs.back(), count, true, given); break;
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64: fill<std::uint64_t>(inputs.back(), count, false, given); break;
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32: fill<std::uint32_t>(inputs.back(), count, false, given); break;
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16: fill<std::uint16_t>(inputs.back(), count, false, given); break;
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
        case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL: fill<std::uint8_t>(inputs.back(), count, false, given); break;
        default: throw std::runtime_error("input " + names.back() + " has an element type that is not generated");
      }
    }
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < session.GetOutputCount(); ++i)
      outputs.emplace_back(session.GetOutputNameAllocated(i, allocator).get());
    std::vector<const char*> input_names, output_names;
    for (const auto& name : names) input_names.push_back(name.c_str());
    for (const auto& name : outputs) output_names.push_back(name.c_str());
    const auto run = [&] {
      session.Run(Ort::RunOptions{nullptr}, input_names.data(), inputs.data(), inputs.size(), output_names.data(),
                  output_names.size());
    };
    for (int i = 0; i < 3; ++i) run();
    std::vector<double> times;
    for (double sum = 0; times.size() < 5 || (sum < 1 && times.size() < 10000); sum += times.back()) {
      const auto begun = std::chrono::steady_clock::now();
      run();
      times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    std::ofstream(std::getenv("RIDGELINE_METRICS_FILE")) << "median_s " << times[times.size() / 2] << "\n";
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
)";

base::Json shapes_of(const schema::TrialSpec& spec) {
  base::Json shapes = base::Json::object();
  if (!spec.workload.shapes.empty())
    for (const auto& input : spec.workload.shapes.front()) shapes[input.name] = input.dims;
  return shapes;
}

std::int64_t batch_of_workload(const schema::WorkloadRef& workload) {
  if (workload.shapes.empty()) return 0;
  for (const auto& shape : workload.shapes.front()) {
    const auto names = workload.dim_names.find(shape.name);
    if (names == workload.dim_names.end() || names->second.size() != shape.dims.size()) continue;
    schema::TensorDescription input{shape.name, "", shape.dims, names->second};
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis)
      if (!names->second[axis].empty()) input.dims[axis] = -1;
    if (const auto axis = dynamic_batch_axis(input)) return shape.dims[*axis];
  }
  return 0;
}

/// By input: the lowest and the highest number, or the values themselves.
struct ValueRule {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::vector<double> elements;
};

std::map<std::string, ValueRule> rules_of(const schema::TrialSpec& spec) {
  std::map<std::string, ValueRule> rules;
  if (spec.workload.input_values.empty()) return rules;
  const auto batch = batch_of_workload(spec.workload);
  for (const auto& values : spec.workload.input_values.front()) {
    auto& rule = rules[values.name];
    rule.low = values.low;
    rule.high = std::max(values.low, values.high + values.high_per_batch * batch);
    if (values.real) rule.elements = {*values.real};
    for (std::size_t at = 0; at < values.elements.size(); ++at)
      rule.elements.push_back(
          static_cast<double>(values.elements[at] + (at < values.per_batch.size() ? values.per_batch[at] * batch : 0)));
  }
  return rules;
}

/// As a literal of Python and of C++.
std::string quoted(const std::string& text) { return base::Json(text).dump(); }

}  // namespace

std::string python_program(const schema::LoadingCode& code, const schema::TrialSpec& spec) {
  base::Json files = base::Json::object();
  for (const auto& file : spec.workload.input_files) files[file.name] = file.path;
  base::Json values = base::Json::object();
  for (const auto& [name, rule] : rules_of(spec)) values[name] = {rule.low, rule.high, rule.elements};
  const auto provider =
      spec.plugin ? spec.plugin->ep_name : std::string(schema::provider_of(spec.provider).library_name);
  return code.python +
         fmt::format(
             "\nif {0} not in session.get_providers():\n"
             "    raise SystemExit(f\"the session runs on {{session.get_providers()}}, not on {1}\")\n"
             "import os, statistics, time\nimport numpy as np\n\nshapes = {2}\nfiles = {3}\nvalues = {4}\n",
             quoted(provider), provider, shapes_of(spec).dump(), files.dump(), values.dump()) +
         std::string(kPythonLoop);
}

std::string cpp_program(const schema::LoadingCode& code, const schema::TrialSpec& spec) {
  std::vector<std::string> shapes;
  const auto all = shapes_of(spec);
  for (const auto& [name, dims] : all.items())
    shapes.push_back(
        fmt::format("{{{}, {{{}}}}}", quoted(name), fmt::join(dims.get<std::vector<std::int64_t>>(), ", ")));
  std::vector<std::string> values;
  for (const auto& [name, rule] : rules_of(spec)) {
    auto numbers = rule.elements;
    // A prime apart, so that they spread over the range.
    const auto span = static_cast<double>(rule.high - rule.low) + 1;
    for (int i = 0; rule.elements.empty() && i < kNumbersOfRange; ++i)
      numbers.push_back(static_cast<double>(rule.low) + std::fmod(i * 7919.0 * span / kNumbersOfRange, span));
    for (auto& number : numbers) number = rule.elements.empty() ? std::floor(number) : number;
    values.push_back(fmt::format("{{{}, {{{}}}}}", quoted(name), fmt::join(numbers, ", ")));
  }
  return code.cpp +
         fmt::format(
             "\n#include <algorithm>\n#include <chrono>\n#include <cstdio>\n#include <cstdlib>\n#include <fstream>\n"
             "#include <map>\n#include <stdexcept>\n#include <vector>\n\n"
             "const char* const model = {};\n"
             "const std::map<std::string, std::vector<std::int64_t>> shapes{{{}}};\n"
             "const std::map<std::string, std::vector<double>> values{{{}}};\n",
             quoted(spec.workload.location), fmt::join(shapes, ", "), fmt::join(values, ", ")) +
         std::string(kCppLoop);
}

}  // namespace ridgeline::workload
