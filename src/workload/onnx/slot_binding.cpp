// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/slot_binding.hpp"

#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

/// Text is made of pointers, which nobody copies.
bool may_be_on_gpu(const OrtPort& port) { return port.is_tensor && port.type != ElementType::string; }

base::Result<void*> value_data(const OrtApi& api, OrtValue* value) {
  void* data = nullptr;
  RL_TRY(check_ort(api, api.GetTensorMutableData(value, &data)));
  return data;
}

}  // namespace

base::Result<std::unique_ptr<SlotBinding>> SlotBinding::create(const BoundModel& model, const FrameGroup& group) {
  const auto& api = model.environment.api();
  OrtIoBinding* created = nullptr;
  RL_TRY(check_ort(api, api.CreateIoBinding(const_cast<OrtSession*>(model.session), &created)));
  Handle<OrtIoBinding> handle(created, api.ReleaseIoBinding);
  RL_TRY_ASSIGN(auto on_gpu, memory_info(api, model.place));
  RL_TRY_ASSIGN(auto on_host, memory_info(api, MemoryPlace::pinned));
  std::unique_ptr<SlotBinding> out(new SlotBinding(model, std::move(handle), std::move(on_gpu), std::move(on_host)));
  const auto dims = model.input.dims(group.rows, group.geometry.input_height, group.geometry.input_width);
  RL_TRY_ASSIGN(const auto bytes, tensor_bytes(model.input.type, dims));
  const auto size = static_cast<std::size_t>(bytes);
  RL_TRY_ASSIGN(out->input_, gpu::DeviceBuffer::make(model.gpu.driver, size));
  // What pads a batch has to be numbers.
  if (const auto status = model.gpu.driver->fill(out->input_->address(), 0, size); status != gpu::kCudaSuccess)
    return tl::unexpected<base::Error>(model.gpu.driver->error(status, "clearing an input on the GPU"));
  RL_TRY_ASSIGN(out->value_, wrap_memory(api, {model.place, out->input_->data(), size}, model.input.type, dims));
  RL_TRY(check_ort(api, api.BindInput(created, model.input.name.c_str(), out->value_.get())));
  if (model.sizes) {
    RL_TRY_ASSIGN(out->sizes_, make_size_tensor(api, *model.sizes, group));
    RL_TRY(check_ort(api, api.BindInput(created, model.sizes->name.c_str(), out->sizes_.get())));
  }
  return out;
}

base::Result<void> SlotBinding::let_runtime_allocate() {
  const auto& api = model_.environment.api();
  // Anew for each run: a binding keeps the values of the run before.
  for (const auto& port : model_.outputs)
    RL_TRY(check_ort(api, api.BindOutputToDevice(binding_.get(), port.description.name.c_str(),
                                                 may_be_on_gpu(port) ? on_gpu_.get() : on_host_.get())));
  return {};
}

base::Result<void> SlotBinding::run(const OrtRunOptions* options) {
  const auto& api = model_.environment.api();
  if (!is_fixed_) {
    outputs_.clear();
    RL_TRY(let_runtime_allocate());
  }
  return check_ort(api, api.RunWithBinding(const_cast<OrtSession*>(model_.session), options, binding_.get()));
}

base::Result<std::span<const BoundOutput>> SlotBinding::outputs() {
  if (is_fixed_) return std::span<const BoundOutput>(outputs_);
  const auto& api = model_.environment.api();
  RL_TRY_ASSIGN(auto values, bound_output_values(api, binding_.get()));
  if (values.size() != model_.outputs.size())
    return base::fail(base::ErrorCode::internal, "{} bound outputs for {} outputs", values.size(),
                      model_.outputs.size());
  outputs_.clear();
  for (std::size_t at = 0; at < values.size(); ++at) {
    BoundOutput output;
    if (may_be_on_gpu(model_.outputs[at])) {
      RL_TRY_ASSIGN(output.shape, fixed_shape(api, values[at].get(), {}));
    }
    if (output.shape) {
      RL_TRY_ASSIGN(const auto bytes, tensor_bytes(output.shape->type, output.shape->dims));
      output.bytes = static_cast<std::size_t>(bytes);
      RL_TRY_ASSIGN(output.data, value_data(api, values[at].get()));
    }
    output.value = std::move(values[at]);
    outputs_.push_back(std::move(output));
  }
  return std::span<const BoundOutput>(outputs_);
}

base::Result<bool> SlotBinding::fix_outputs() {
  const auto& api = model_.environment.api();
  RL_TRY_ASSIGN(const auto last, outputs());
  for (std::size_t at = 0; at < last.size(); ++at) {
    RL_TRY_ASSIGN(const auto shape, fixed_shape(api, last[at].value.get(), model_.outputs[at].description.dims));
    if (!last[at].shape || !shape) return false;
  }
  std::vector<BoundOutput> kept;
  for (std::size_t at = 0; at < last.size(); ++at) {
    RL_TRY_ASSIGN(auto buffer, gpu::DeviceBuffer::make(model_.gpu.driver, last[at].bytes));
    BoundOutput output;
    output.shape = last[at].shape;
    output.data = buffer.data();
    output.bytes = last[at].bytes;
    RL_TRY_ASSIGN(output.value,
                  wrap_memory(api, {model_.place, output.data, output.bytes}, output.shape->type, output.shape->dims));
    fixed_.push_back(std::move(buffer));
    kept.push_back(std::move(output));
  }
  for (std::size_t at = 0; at < kept.size(); ++at)
    RL_TRY(check_ort(
        api, api.BindOutput(binding_.get(), model_.outputs[at].description.name.c_str(), kept[at].value.get())));
  outputs_ = std::move(kept);
  is_fixed_ = true;
  return true;
}

}  // namespace ridgeline::workload
