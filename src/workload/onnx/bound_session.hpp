// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "workload/onnx/device_transfer.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_values.hpp"

struct OrtIoBinding;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;

namespace ridgeline::workload {

/// A session whose input is in the device's memory and whose outputs are left there, so that what copies take is known.
/// One thread.
class BoundSession {
 public:
  /// `session` and `outputs` must outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<BoundSession>> create(const OrtEnvironment& environment,
                                                                          const OrtSession* session,
                                                                          const std::vector<OrtPort>& outputs,
                                                                          std::unique_ptr<DeviceTransfer> transfer);

  [[nodiscard]] const DeviceTransfer& transfer() const noexcept { return *transfer_; }
  /// `inputs`: in the device's memory, or small and in the host's.
  [[nodiscard]] base::Result<void> run(const OrtRunOptions* options, std::span<const char* const> names,
                                       std::span<const OrtValue* const> inputs);
  /// The last run's outputs in host memory, valid until the next call.
  [[nodiscard]] base::Result<std::vector<OrtValueHandle>> take_outputs();

 private:
  template <typename T>
  using Handle = std::unique_ptr<T, void (*)(T*)>;
  struct HostBuffer {
    std::shared_ptr<void> data;
    std::size_t bytes = 0;
  };

  BoundSession(const OrtEnvironment& environment, const OrtSession* session, const std::vector<OrtPort>& outputs,
               std::unique_ptr<DeviceTransfer> transfer, Handle<OrtIoBinding> binding, Handle<OrtMemoryInfo> on_device,
               Handle<OrtMemoryInfo> on_host);
  [[nodiscard]] base::Result<OrtValueHandle> copied(OrtValueHandle value, HostBuffer& buffer) const;

  const OrtEnvironment& environment_;
  const OrtSession* session_;
  const std::vector<OrtPort>& outputs_;
  std::unique_ptr<DeviceTransfer> transfer_;
  Handle<OrtIoBinding> binding_;
  Handle<OrtMemoryInfo> on_device_;
  Handle<OrtMemoryInfo> on_host_;
  std::vector<HostBuffer> buffers_;  ///< of each output, the largest that was needed
};

}  // namespace ridgeline::workload
