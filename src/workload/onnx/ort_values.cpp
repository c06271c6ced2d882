// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_values.hpp"

#include <algorithm>
#include <cstring>

#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

struct TypeAndShape {
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> dims;
  std::vector<std::string> dim_names;
};

base::Result<TypeAndShape> read_shape(const OrtApi& api, const OrtTensorTypeAndShapeInfo* info) {
  TypeAndShape result;
  ONNXTensorElementDataType type{};
  RL_TRY(check_ort(api, api.GetTensorElementType(info, &type)));
  result.type = static_cast<ElementType>(type);
  std::size_t rank = 0;
  RL_TRY(check_ort(api, api.GetDimensionsCount(info, &rank)));
  result.dims.resize(rank);
  std::vector<const char*> names(rank, nullptr);
  if (rank != 0) {
    RL_TRY(check_ort(api, api.GetDimensions(info, result.dims.data(), rank)));
    RL_TRY(check_ort(api, api.GetSymbolicDimensions(info, names.data(), rank)));
  }
  for (const auto* name : names) result.dim_names.emplace_back(name != nullptr ? name : "");
  return result;
}

base::Result<TypeAndShape> shape_of(const OrtApi& api, const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* created = nullptr;
  RL_TRY(check_ort(api, api.GetTensorTypeAndShape(value, &created)));
  const OrtHandle<OrtTensorTypeAndShapeInfo> info(created, api.ReleaseTensorTypeAndShapeInfo);
  return read_shape(api, created);
}

std::string_view onnx_type_name(ONNXType type) {
  switch (type) {
    case ONNX_TYPE_TENSOR: return "tensor";
    case ONNX_TYPE_SEQUENCE: return "sequence(...)";
    case ONNX_TYPE_MAP: return "map(...)";
    case ONNX_TYPE_OPAQUE: return "opaque(...)";
    case ONNX_TYPE_SPARSETENSOR: return "sparse_tensor(...)";
    case ONNX_TYPE_OPTIONAL: return "optional(...)";
    case ONNX_TYPE_UNKNOWN: break;
  }
  return "unknown(...)";
}

base::Result<std::string> read_text(const OrtApi& api, const OrtValue* value, std::size_t elements) {
  std::size_t length = 0;
  RL_TRY(check_ort(api, api.GetStringTensorDataLength(value, &length)));
  std::string joined(length, '\0');
  std::vector<std::size_t> starts(elements, 0);
  if (elements != 0)
    RL_TRY(check_ort(api, api.GetStringTensorContent(value, joined.data(), length, starts.data(), elements)));
  std::string bytes;
  for (std::size_t at = 0; at < elements; ++at) {
    const auto end = at + 1 < elements ? starts[at + 1] : length;
    bytes.append(joined, starts[at], end - starts[at]);
    bytes.push_back('\0');
  }
  return bytes;
}

base::Result<void> append_tensor(const OrtApi& api, const OrtValue* value, const std::string& name,
                                 OutputSet& outputs) {
  RL_TRY_ASSIGN(auto shape, shape_of(api, value));
  NamedTensor tensor{name, std::string(element_type_name(shape.type)), std::move(shape.dims), {}};
  if (shape.type == ElementType::string) {
    RL_TRY_ASSIGN(const auto elements, element_count(tensor.dims));
    RL_TRY_ASSIGN(tensor.bytes, read_text(api, value, static_cast<std::size_t>(elements)));
  } else {
    RL_TRY_ASSIGN(const auto size, tensor_bytes(shape.type, tensor.dims));
    void* data = nullptr;  // the C API has no read-only form of this
    RL_TRY(check_ort(api, api.GetTensorMutableData(const_cast<OrtValue*>(value), &data)));
    if (size > 0) tensor.bytes.assign(static_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  outputs.push_back(std::move(tensor));
  return {};
}

base::Result<OrtPort> read_port(const OrtApi& api, const OrtTypeInfo* info) {
  OrtPort port;
  ONNXType kind{};
  RL_TRY(check_ort(api, api.GetOnnxTypeFromTypeInfo(info, &kind)));
  port.is_tensor = kind == ONNX_TYPE_TENSOR;
  port.description.element_type = onnx_type_name(kind);
  if (!port.is_tensor) return port;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;  // belongs to info
  RL_TRY(check_ort(api, api.CastTypeInfoToTensorInfo(info, &tensor)));
  RL_TRY_ASSIGN(auto shape, read_shape(api, tensor));
  port.type = shape.type;
  port.description.element_type = element_type_name(shape.type);
  port.description.dims = std::move(shape.dims);
  port.description.dim_names = std::move(shape.dim_names);
  return port;
}

}  // namespace

base::Result<std::vector<OrtPort>> session_ports(const OrtApi& api, const OrtSession* session, PortSide side) {
  const bool inputs = side == PortSide::inputs;
  std::size_t count = 0;
  RL_TRY(check_ort(api, (inputs ? api.SessionGetInputCount : api.SessionGetOutputCount)(session, &count)));
  OrtAllocator* allocator = nullptr;
  RL_TRY(check_ort(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  std::vector<OrtPort> ports;
  for (std::size_t index = 0; index < count; ++index) {
    char* name = nullptr;
    RL_TRY(check_ort(api,
                     (inputs ? api.SessionGetInputName : api.SessionGetOutputName)(session, index, allocator, &name)));
    std::string copy = name;
    RL_TRY(check_ort(api, api.AllocatorFree(allocator, name)));
    OrtTypeInfo* created = nullptr;
    RL_TRY(check_ort(api,
                     (inputs ? api.SessionGetInputTypeInfo : api.SessionGetOutputTypeInfo)(session, index, &created)));
    const OrtHandle<OrtTypeInfo> info(created, api.ReleaseTypeInfo);
    RL_TRY_ASSIGN(auto port, read_port(api, created));
    port.description.name = std::move(copy);
    ports.push_back(std::move(port));
  }
  return ports;
}

base::Result<OrtValueHandle> allocate_ort_tensor(const OrtApi& api, ElementType type,
                                                 const std::vector<std::int64_t>& dims) {
  OrtAllocator* allocator = nullptr;
  RL_TRY(check_ort(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  OrtValue* value = nullptr;
  RL_TRY(check_ort(api, api.CreateTensorAsOrtValue(allocator, dims.data(), dims.size(),
                                                   static_cast<ONNXTensorElementDataType>(type), &value)));
  return OrtValueHandle(value, api.ReleaseValue);
}

base::Result<OrtValueHandle> make_ort_tensor(const OrtApi& api, const Tensor& tensor) {
  RL_TRY_ASSIGN(auto value, allocate_ort_tensor(api, tensor.type, tensor.dims));
  RL_TRY(fill_ort_tensor(api, value.get(), tensor));
  return value;
}

base::Result<void> fill_ort_tensor(const OrtApi& api, OrtValue* value, const Tensor& tensor) {
  void* data = nullptr;
  RL_TRY(check_ort(api, api.GetTensorMutableData(value, &data)));
  if (!tensor.bytes.empty()) std::memcpy(data, tensor.bytes.data(), tensor.bytes.size());
  return {};
}

base::Result<OrtHandle<OrtMemoryInfo>> memory_info(const OrtApi& api, MemoryPlace place) {
  OrtMemoryInfo* info = nullptr;
  RL_TRY(check_ort(api, place == MemoryPlace::device
                            ? api.CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, &info)
                            : api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &info)));
  return OrtHandle<OrtMemoryInfo>(info, api.ReleaseMemoryInfo);
}

base::Result<OrtValueHandle> wrap_memory(const OrtApi& api, const OurMemory& memory, ElementType type,
                                         const std::vector<std::int64_t>& dims) {
  if (memory.bytes == 0) return allocate_ort_tensor(api, type, dims);  // the runtime refuses null even for nothing
  // Page-locked memory goes by the CPU's name: the driver knows what it is, while the runtime takes "CudaPinned"
  // tensors for outputs that are where they belong and then refuses to copy them.
  const char* place = memory.place == MemoryPlace::pinned ? "Cpu" : "Cuda";
  OrtMemoryInfo* created = nullptr;
  RL_TRY(check_ort(api, api.CreateMemoryInfo(place, OrtDeviceAllocator, 0, OrtMemTypeDefault, &created)));
  const OrtHandle<OrtMemoryInfo> info(created, api.ReleaseMemoryInfo);
  OrtValue* value = nullptr;
  RL_TRY(check_ort(api, api.CreateTensorWithDataAsOrtValue(created, memory.data, memory.bytes, dims.data(), dims.size(),
                                                           static_cast<ONNXTensorElementDataType>(type), &value)));
  return OrtValueHandle(value, api.ReleaseValue);
}

base::Result<std::vector<OrtValueHandle>> bound_output_values(const OrtApi& api, const OrtIoBinding* binding) {
  OrtAllocator* allocator = nullptr;
  RL_TRY(check_ort(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  OrtValue** values = nullptr;
  std::size_t count = 0;
  RL_TRY(check_ort(api, api.GetBoundOutputValues(binding, allocator, &values, &count)));
  std::vector<OrtValueHandle> handles;
  for (std::size_t at = 0; at < count; ++at) handles.emplace_back(values[at], api.ReleaseValue);
  if (values != nullptr) RL_TRY(check_ort(api, api.AllocatorFree(allocator, values)));
  return handles;
}

base::Result<std::optional<FixedShape>> fixed_shape(const OrtApi& api, const OrtValue* value,
                                                    const std::vector<std::int64_t>& declared) {
  const std::optional<FixedShape> none;
  int is_tensor = 0;
  RL_TRY(check_ort(api, api.IsTensor(value, &is_tensor)));
  if (is_tensor == 0) return none;
  RL_TRY_ASSIGN(auto shape, shape_of(api, value));
  if (shape.type == ElementType::string) return none;
  // An output without declared rank shows as a scalar here, so that an empty list fits everything.
  const bool fits =
      declared.empty() || std::equal(declared.begin(), declared.end(), shape.dims.begin(), shape.dims.end(),
                                     [](std::int64_t want, std::int64_t have) { return want < 0 || want == have; });
  if (!fits) return none;
  return std::optional<FixedShape>({shape.type, std::move(shape.dims)});
}

base::Result<void> append_outputs(const OrtApi& api, const OrtValue* value, const std::string& name,
                                  OutputSet& outputs) {
  int has_value = 0;
  RL_TRY(check_ort(api, api.HasValue(value, &has_value)));
  if (has_value == 0) return {};
  ONNXType type{};
  RL_TRY(check_ort(api, api.GetValueType(value, &type)));
  if (type == ONNX_TYPE_TENSOR) return append_tensor(api, value, name, outputs);
  if (type != ONNX_TYPE_SEQUENCE && type != ONNX_TYPE_MAP)
    return base::fail(ErrorCode::unsupported, "output \"{}\" is a {}: only tensors, sequences and maps can be compared",
                      name, onnx_type_name(type));
  OrtAllocator* allocator = nullptr;
  RL_TRY(check_ort(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  std::size_t count = 2;  // a map is its keys and its values
  if (type == ONNX_TYPE_SEQUENCE) RL_TRY(check_ort(api, api.GetValueCount(value, &count)));
  for (std::size_t index = 0; index < count; ++index) {
    OrtValue* element = nullptr;
    RL_TRY(check_ort(api, api.GetValue(value, static_cast<int>(index), allocator, &element)));
    const OrtValueHandle handle(element, api.ReleaseValue);
    RL_TRY(append_outputs(api, element, fmt::format("{}[{}]", name, index), outputs));
  }
  return {};
}

}  // namespace ridgeline::workload
