// SPDX-License-Identifier: Apache-2.0
// A plug-in for ONNX Runtime whose provider runs Relu nodes of floats on the CPU, and none with the option takes=none.
// RL_NO_DEVICE: it offers none.
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr const char* kName = "ReluExecutionProvider";
const OrtApi* api = nullptr;

struct Relu : OrtNodeComputeInfo {
  Relu() : OrtNodeComputeInfo{} {
    ort_version_supported = ORT_API_VERSION;
    CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) noexcept -> OrtStatus* {
      *state = nullptr;
      return nullptr;
    };
    Compute = compute;
    ReleaseState = [](OrtNodeComputeInfo*, void*) noexcept {};
  }

  static OrtStatus* compute(OrtNodeComputeInfo*, void*, OrtKernelContext* context) noexcept {
    const OrtValue* input = nullptr;
    OrtTensorTypeAndShapeInfo* info = nullptr;
    if (auto* status = api->KernelContext_GetInput(context, 0, &input)) return status;
    if (auto* status = api->GetTensorTypeAndShape(input, &info)) return status;
    std::size_t rank = 0;
    std::size_t count = 0;
    OrtStatus* status = api->GetDimensionsCount(info, &rank);
    std::vector<std::int64_t> dims(rank);
    if (status == nullptr) status = api->GetDimensions(info, dims.data(), rank);
    if (status == nullptr) status = api->GetTensorShapeElementCount(info, &count);
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (status != nullptr) return status;
    OrtValue* output = nullptr;
    void* in = nullptr;
    void* out = nullptr;
    if (auto* failed = api->KernelContext_GetOutput(context, 0, dims.data(), rank, &output)) return failed;
    if (auto* failed = api->GetTensorMutableData(const_cast<OrtValue*>(input), &in)) return failed;
    if (auto* failed = api->GetTensorMutableData(output, &out)) return failed;
    std::transform(static_cast<float*>(in), static_cast<float*>(in) + count, static_cast<float*>(out),
                   [](float x) { return std::max(x, 0.0F); });
    return nullptr;
  }
};

struct Provider : OrtEp {
  explicit Provider(bool takes_nodes) : OrtEp{}, takes(takes_nodes) {
    ort_version_supported = 23;
    GetName = [](const OrtEp*) noexcept { return kName; };
    GetCapability = capability;
    Compile = [](OrtEp*, const OrtGraph**, const OrtNode**, std::size_t count, OrtNodeComputeInfo** infos,
                 OrtNode**) noexcept -> OrtStatus* {
      for (std::size_t at = 0; at < count; ++at) infos[at] = new Relu;
      return nullptr;
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, std::size_t count) noexcept {
      for (std::size_t at = 0; at < count; ++at) delete static_cast<Relu*>(infos[at]);
    };
  }

  static OrtStatus* capability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) noexcept {
    std::size_t count = 0;
    if (auto* status = api->Graph_GetNumNodes(graph, &count)) return status;
    std::vector<const OrtNode*> nodes(count);
    if (auto* status = api->Graph_GetNodes(graph, nodes.data(), count)) return status;
    for (const auto* node : nodes) {
      const char* type = nullptr;
      if (auto* status = api->Node_GetOperatorType(node, &type)) return status;
      if (std::strcmp(type, "Relu") != 0 || !static_cast<Provider*>(self)->takes) continue;
      if (auto* status = api->GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(support, &node, 1, nullptr)) return status;
    }
    return nullptr;
  }

  bool takes;
};

struct Factory : OrtEpFactory {
  Factory() : OrtEpFactory{} {
    ort_version_supported = 23;
    GetName = [](const OrtEpFactory*) noexcept { return kName; };
    GetVendor = [](const OrtEpFactory*) noexcept { return "nobody"; };
    GetVendorId = [](const OrtEpFactory*) noexcept -> std::uint32_t { return 0; };
    GetVersion = [](const OrtEpFactory*) noexcept { return "1.2.3"; };
    GetSupportedDevices = devices;
    CreateEp = create;
    ReleaseEp = [](OrtEpFactory*, OrtEp* provider) noexcept { delete static_cast<Provider*>(provider); };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
                         OrtAllocator** allocator) noexcept -> OrtStatus* {
      *allocator = nullptr;
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) noexcept {};
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) noexcept -> OrtStatus* {
      *transfer = nullptr;
      return nullptr;
    };
    IsStreamAware = [](const OrtEpFactory*) noexcept { return false; };
  }

  static OrtStatus* devices(OrtEpFactory* self, const OrtHardwareDevice* const* hardware, std::size_t count,
                            OrtEpDevice** found, std::size_t most, std::size_t* found_count) noexcept {
    *found_count = 0;
#ifndef RL_NO_DEVICE
    for (std::size_t at = 0; at < count && *found_count < most; ++at) {
      if (api->HardwareDevice_Type(hardware[at]) != OrtHardwareDeviceType_CPU) continue;
      if (auto* status = api->GetEpApi()->CreateEpDevice(self, hardware[at], nullptr, nullptr, found + *found_count))
        return status;
      ++*found_count;
    }
#endif
    return nullptr;
  }

  static OrtStatus* create(OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, std::size_t,
                           const OrtSessionOptions* options, const OrtLogger*, OrtEp** provider) noexcept {
    constexpr const char* kTakes = "ep.reluexecutionprovider.takes";
    int has = 0;
    if (auto* status = api->HasSessionConfigEntry(options, kTakes, &has)) return status;
    *provider = new Provider(has == 0);
    return nullptr;
  }
};

}  // namespace

extern "C" {

OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                             std::size_t most, std::size_t* count) {
  api = base->GetApi(23);
  *count = std::min<std::size_t>(most, 1);
  if (*count == 1) factories[0] = new Factory;
  return nullptr;
}

OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
}
