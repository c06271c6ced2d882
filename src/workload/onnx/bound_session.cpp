// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/bound_session.hpp"

#include <utility>

#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

/// Elements that can be copied: text is made of pointers.
bool is_copied(const OrtPort& port) { return port.is_tensor && port.type != ElementType::string; }

}  // namespace

BoundSession::BoundSession(const OrtEnvironment& environment, const OrtSession* session,
                           const std::vector<OrtPort>& outputs, std::unique_ptr<DeviceTransfer> transfer,
                           Handle<OrtIoBinding> binding, Handle<OrtMemoryInfo> on_device, Handle<OrtMemoryInfo> on_host)
    : environment_(environment),
      session_(session),
      outputs_(outputs),
      transfer_(std::move(transfer)),
      binding_(std::move(binding)),
      on_device_(std::move(on_device)),
      on_host_(std::move(on_host)),
      buffers_(outputs.size()) {}

base::Result<std::unique_ptr<BoundSession>> BoundSession::create(const OrtEnvironment& environment,
                                                                 const OrtSession* session,
                                                                 const std::vector<OrtPort>& outputs,
                                                                 std::unique_ptr<DeviceTransfer> transfer) {
  const auto& api = environment.api();
  OrtIoBinding* binding = nullptr;
  RL_TRY(check_ort(api, api.CreateIoBinding(const_cast<OrtSession*>(session), &binding)));
  Handle<OrtIoBinding> held(binding, api.ReleaseIoBinding);
  RL_TRY_ASSIGN(auto on_device, memory_info(api, transfer->place()));
  RL_TRY_ASSIGN(auto on_host, memory_info(api, MemoryPlace::pinned));
  return std::unique_ptr<BoundSession>(new BoundSession(environment, session, outputs, std::move(transfer),
                                                        std::move(held), std::move(on_device), std::move(on_host)));
}

base::Result<void> BoundSession::run(const OrtRunOptions* options, std::span<const char* const> names,
                                     std::span<const OrtValue* const> inputs) {
  const auto& api = environment_.api();
  for (std::size_t at = 0; at < inputs.size(); ++at)
    RL_TRY(check_ort(api, api.BindInput(binding_.get(), names[at], inputs[at])));
  // Anew each time: a binding keeps the values of the run before, whose shapes may be others.
  for (const auto& port : outputs_)
    RL_TRY(check_ort(api, api.BindOutputToDevice(binding_.get(), port.description.name.c_str(),
                                                 is_copied(port) ? on_device_.get() : on_host_.get())));
  return check_ort(api, api.RunWithBinding(const_cast<OrtSession*>(session_), options, binding_.get()));
}

base::Result<std::vector<OrtValueHandle>> BoundSession::take_outputs() {
  const auto& api = environment_.api();
  RL_TRY_ASSIGN(auto values, bound_output_values(api, binding_.get()));
  if (values.size() != outputs_.size())
    return base::fail(base::ErrorCode::internal, "{} bound outputs for {} outputs", values.size(), outputs_.size());
  for (std::size_t at = 0; at < values.size(); ++at)
    if (is_copied(outputs_[at])) {
      RL_TRY_ASSIGN(values[at], copied(std::move(values[at]), buffers_[at]));
    }
  return values;
}

base::Result<OrtValueHandle> BoundSession::copied(OrtValueHandle value, HostBuffer& buffer) const {
  const auto& api = environment_.api();
  RL_TRY_ASSIGN(const auto shape, fixed_shape(api, value.get(), {}));
  if (!shape) return value;
  RL_TRY_ASSIGN(const auto size, tensor_bytes(shape->type, shape->dims));
  const auto bytes = static_cast<std::size_t>(size);
  if (buffer.bytes < bytes) {
    RL_TRY_ASSIGN(buffer.data, transfer_->allocate_host(bytes));
    buffer.bytes = bytes;
  }
  if (bytes > 0) {
    void* data = nullptr;
    RL_TRY(check_ort(api, api.GetTensorMutableData(value.get(), &data)));
    RL_TRY(transfer_->to_host(buffer.data.get(), data, bytes));
  }
  return wrap_memory(api, {MemoryPlace::pinned, buffer.data.get(), bytes}, shape->type, shape->dims);
}

}  // namespace ridgeline::workload
