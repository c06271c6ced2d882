// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/device_member.hpp"

#include <cstring>
#include <new>

#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {

DeviceMember::DeviceMember(const SharedSession& session, const Setup& setup, SessionSettings::RunHandle first_options,
                           SessionSettings::RunHandle options, BindingHandle binding)
    : session_(session),
      api_(session.environment.api()),
      setup_(setup),
      cuda_(*setup.gpu.driver),
      first_options_(std::move(first_options)),
      options_(std::move(options)),
      binding_(std::move(binding)),
      failure_(nullptr, api_.ReleaseStatus) {}

base::Result<std::unique_ptr<ShapeRunner>> DeviceMember::create(const SharedSession& session, const Setup& setup,
                                                                const std::vector<Tensor>& tensors,
                                                                SessionSettings::RunHandle first_options,
                                                                SessionSettings::RunHandle options) {
  const auto& api = session.environment.api();
  OrtIoBinding* created = nullptr;
  RL_TRY(check_ort(api, api.CreateIoBinding(session.session, &created)));
  BindingHandle binding(created, api.ReleaseIoBinding);
  std::unique_ptr<DeviceMember> member(
      new DeviceMember(session, setup, std::move(first_options), std::move(options), std::move(binding)));
  RL_TRY(member->bind_inputs(tensors));
  RL_TRY(member->let_runtime_allocate());
  return std::unique_ptr<ShapeRunner>(std::move(member));
}

base::Result<DeviceMember::Slot> DeviceMember::allocate(ElementType type, const std::vector<std::int64_t>& dims) {
  RL_TRY_ASSIGN(const auto bytes, tensor_bytes(type, dims));
  const auto size = static_cast<std::size_t>(bytes);
  Slot slot{type, dims, {}, {}, OrtValueHandle(nullptr, api_.ReleaseValue)};
  RL_TRY_ASSIGN(auto device, gpu::DeviceBuffer::make(setup_.gpu.driver, size));
  RL_TRY_ASSIGN(auto host, gpu::PinnedBuffer::make(setup_.gpu.driver, size));
  RL_TRY_ASSIGN(slot.value, wrap_memory(api_, {MemoryPlace::device, device.data(), size}, type, dims));
  slot.device = std::move(device);
  slot.host = std::move(host);
  return slot;
}

base::Result<void> DeviceMember::bind_inputs(const std::vector<Tensor>& tensors) {
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    const auto& tensor = tensors[at];
    if (tensor.type == ElementType::string) {
      RL_TRY_ASSIGN(auto value, make_ort_tensor(api_, tensor));
      inputs_.push_back({tensor.type, tensor.dims, {}, {}, std::move(value)});
    } else {
      RL_TRY_ASSIGN(auto slot, allocate(tensor.type, tensor.dims));
      inputs_.push_back(std::move(slot));
    }
    RL_TRY(check_ort(api_, api_.BindInput(binding_.get(), session_.input_names[at], inputs_.back().value.get())));
  }
  return write_inputs(tensors);
}

base::Result<void> DeviceMember::let_runtime_allocate() {
  OrtMemoryInfo* created = nullptr;
  RL_TRY(check_ort(api_, api_.CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, &created)));
  const OrtHandle<OrtMemoryInfo> on_gpu(created, api_.ReleaseMemoryInfo);
  RL_TRY(check_ort(api_, api_.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &created)));
  const OrtHandle<OrtMemoryInfo> on_cpu(created, api_.ReleaseMemoryInfo);
  for (std::size_t at = 0; at < session_.outputs.size(); ++at) {
    const auto& port = session_.outputs[at];
    const bool fixed_size = port.is_tensor && port.type != ElementType::string;
    RL_TRY(check_ort(api_, api_.BindOutputToDevice(binding_.get(), session_.output_names[at],
                                                   fixed_size ? on_gpu.get() : on_cpu.get())));
  }
  return {};
}

base::Result<void> DeviceMember::keep_buffers() {
  RL_TRY_ASSIGN(const auto first, bound_output_values(api_, binding_.get()));
  if (first.size() != session_.outputs.size())
    return base::fail(base::ErrorCode::internal, "{} bound outputs for {} outputs", first.size(),
                      session_.outputs.size());
  for (std::size_t at = 0; at < first.size(); ++at) {
    RL_TRY_ASSIGN(const auto shape, fixed_shape(api_, first[at].get(), session_.outputs[at].description.dims));
    if (!shape) {
      outputs_.push_back({ElementType::string, {}, {}, {}, OrtValueHandle(nullptr, api_.ReleaseValue)});
      continue;
    }
    RL_TRY_ASSIGN(auto slot, allocate(shape->type, shape->dims));
    outputs_.push_back(std::move(slot));
    RL_TRY(check_ort(api_, api_.BindOutput(binding_.get(), session_.output_names[at], outputs_.back().value.get())));
  }
  has_buffers_ = true;
  return {};
}

bool DeviceMember::cuda_ok(gpu::CudaStatus status, const char* doing) noexcept {
  if (status == gpu::kCudaSuccess) return true;
  cuda_failure_ = status;
  cuda_doing_ = doing;
  return false;
}

bool DeviceMember::upload() noexcept {
  for (const auto& slot : inputs_) {
    if (!slot.device || slot.host->size() == 0) continue;
    const auto status =
        setup_.stream != nullptr
            ? cuda_.copy_to_device_async(slot.device->address(), slot.host->data(), slot.host->size(), setup_.stream)
            : cuda_.copy_to_device(slot.device->address(), slot.host->data(), slot.host->size());
    if (!cuda_ok(status, "copying inputs to the GPU")) return false;
  }
  return true;
}

bool DeviceMember::download() noexcept {
  for (const auto& slot : outputs_) {
    if (!slot.device || slot.host->size() == 0) continue;
    const auto status =
        setup_.stream != nullptr
            ? cuda_.copy_to_host_async(slot.host->data(), slot.device->address(), slot.host->size(), setup_.stream)
            : cuda_.copy_to_host(slot.host->data(), slot.device->address(), slot.host->size());
    if (!cuda_ok(status, "copying outputs from the GPU")) return false;
  }
  return true;
}

bool DeviceMember::run() noexcept {
  try {
    // Callers run on threads of their own, to which the context is new.
    if (auto current = setup_.gpu.context.make_current(); !current) {
      setup_failure_ = std::move(current).error();
      return false;
    }
    if (setup_.copies && !upload()) return false;
    const auto* options = has_buffers_ ? options_.get() : first_options_.get();
    if (OrtStatus* status = api_.RunWithBinding(session_.session, options, binding_.get()); status != nullptr) {
      failure_.reset(status);
      return false;
    }
    if (!has_buffers_) {
      if (setup_.stream != nullptr && !cuda_ok(cuda_.synchronize(setup_.stream), "waiting for the inference"))
        return false;
      if (auto kept = keep_buffers(); !kept) {
        setup_failure_ = std::move(kept).error();
        return false;
      }
      return true;
    }
    if (setup_.copies && !download()) return false;
    return setup_.stream == nullptr || cuda_ok(cuda_.synchronize(setup_.stream), "waiting for the inference");
  } catch (const std::bad_alloc&) {
    setup_failure_ = {base::ErrorCode::out_of_memory, {}};
  }
  return false;
}

base::Error DeviceMember::last_error() const {
  if (cuda_failure_ != gpu::kCudaSuccess) return cuda_.error(cuda_failure_, cuda_doing_);
  if (failure_ == nullptr) return setup_failure_;
  return session_.environment.with_log(
      classify_ort_error(static_cast<int>(api_.GetErrorCode(failure_.get())), api_.GetErrorMessage(failure_.get())));
}

base::Result<void> DeviceMember::write_inputs(const std::vector<Tensor>& tensors) {
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    auto& slot = inputs_[at];
    if (!slot.device || slot.host->size() == 0) continue;
    std::memcpy(slot.host->data(), tensors[at].bytes.data(), slot.host->size());
    if (const auto status = cuda_.copy_to_device(slot.device->address(), slot.host->data(), slot.host->size());
        status != gpu::kCudaSuccess)
      return tl::unexpected<base::Error>(cuda_.error(status, "copying inputs to the GPU"));
  }
  return {};
}

base::Result<void> DeviceMember::collect(OutputSet& outputs) {
  // The first run may have to find out the outputs' shapes; only a second one fills our buffers.
  for (int round = has_buffers_ ? 1 : 0; round < 2; ++round)
    if (!run()) return tl::unexpected<base::Error>(last_error());
  if (!setup_.copies && !download()) return tl::unexpected<base::Error>(last_error());
  if (setup_.stream != nullptr && !cuda_ok(cuda_.synchronize(setup_.stream), "copying outputs from the GPU"))
    return tl::unexpected<base::Error>(last_error());
  RL_TRY_ASSIGN(const auto bound, bound_output_values(api_, binding_.get()));
  for (std::size_t at = 0; at < outputs_.size(); ++at) {
    const auto& slot = outputs_[at];
    const auto& name = session_.outputs[at].description.name;
    if (!slot.device) {
      RL_TRY(append_outputs(api_, bound[at].get(), name, outputs));
      continue;
    }
    outputs.push_back({name, std::string(element_type_name(slot.type)), slot.dims,
                       std::string(static_cast<const char*>(slot.host->data()), slot.host->size())});
  }
  return {};
}

}  // namespace ridgeline::workload
