// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/gpu_side.hpp"

namespace ridgeline::workload {

using base::ErrorCode;

base::Result<std::unique_ptr<GpuSide>> GpuSide::open(const std::vector<std::string>& drivers) {
  RL_TRY_ASSIGN(auto driver, gpu::CudaDriver::load(drivers));
  RL_TRY_ASSIGN(auto context, gpu::PrimaryContext::retain(driver, 0));
  RL_TRY(context.make_current());
  return std::unique_ptr<GpuSide>(new GpuSide{std::move(driver), std::move(context)});
}

base::Result<IoBinding> io_binding_of(const schema::TrialSpec& spec) {
  const auto* asked = spec.configuration.find("io_binding");
  const auto text = asked != nullptr ? asked->as_text() : spec.tensor_location == "device" ? "device" : "none";
  if (text == "device") return IoBinding::device;
  if (text == "stream") return IoBinding::stream;
  if (spec.tensor_location == "device")
    return base::fail(
        ErrorCode::invalid_argument,
        "io_binding={}: keeps tensors in host memory, but with --io device they stay on the GPU; expected "
        "device or stream",
        text);
  return text == "pinned" ? IoBinding::pinned : IoBinding::none;
}

}  // namespace ridgeline::workload
