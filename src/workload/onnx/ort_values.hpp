// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/model_description.hpp"
#include "workload/element_type.hpp"
#include "workload/onnx/npy_file.hpp"
#include "workload/workload.hpp"

struct OrtApi;
struct OrtIoBinding;
struct OrtMemoryInfo;
struct OrtSession;
struct OrtValue;

namespace ridgeline::workload {

using OrtValueHandle = std::unique_ptr<OrtValue, void (*)(OrtValue*)>;

/// An input or output of a session. Types other than dense tensors have the element_type "sequence(...)" and the like.
struct OrtPort {
  schema::TensorDescription description;
  bool is_tensor = false;
  ElementType type = ElementType::float32;
};

enum class PortSide { inputs, outputs };

[[nodiscard]] base::Result<std::vector<OrtPort>> session_ports(const OrtApi& api, const OrtSession* session,
                                                               PortSide side);

/// A tensor in the runtime's own aligned CPU memory with a copy of `tensor`.
[[nodiscard]] base::Result<OrtValueHandle> make_ort_tensor(const OrtApi& api, const Tensor& tensor);

/// An unfilled tensor in the runtime's own CPU memory.
[[nodiscard]] base::Result<OrtValueHandle> allocate_ort_tensor(const OrtApi& api, ElementType type,
                                                               const std::vector<std::int64_t>& dims);

/// Copies `tensor` into a host value of its type and shape.
[[nodiscard]] base::Result<void> fill_ort_tensor(const OrtApi& api, OrtValue* value, const Tensor& tensor);

enum class MemoryPlace { pinned, device };

/// Where a run allocates what is bound to it: GPU memory, or the runtime's own of the host.
[[nodiscard]] base::Result<std::unique_ptr<OrtMemoryInfo, void (*)(OrtMemoryInfo*)>> memory_info(const OrtApi& api,
                                                                                                 MemoryPlace place);

/// Memory of ours on the first visible GPU, or page-locked for it.
struct OurMemory {
  MemoryPlace place = MemoryPlace::device;
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// A tensor in memory of ours, which must outlive it.
[[nodiscard]] base::Result<OrtValueHandle> wrap_memory(const OrtApi& api, const OurMemory& memory, ElementType type,
                                                       const std::vector<std::int64_t>& dims);

/// What a run left in a binding's outputs.
[[nodiscard]] base::Result<std::vector<OrtValueHandle>> bound_output_values(const OrtApi& api,
                                                                            const OrtIoBinding* binding);

struct FixedShape {
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> dims;
};

/// What a buffer for `value` needs. nullopt when `value` is no tensor of fixed-size elements, or has another shape than
/// the model declares (-1: any), which the runtime only warns of but refuses in a buffer of ours.
[[nodiscard]] base::Result<std::optional<FixedShape>> fixed_shape(const OrtApi& api, const OrtValue* value,
                                                                  const std::vector<std::int64_t>& declared);

/// Appends a copy of `value`. Sequences and maps are taken apart into "name[0]", "name[1]"..., an empty optional adds
/// nothing, text is kept with a NUL after each element. Errors: unsupported for sparse and opaque values.
[[nodiscard]] base::Result<void> append_outputs(const OrtApi& api, const OrtValue* value, const std::string& name,
                                                OutputSet& outputs);

}  // namespace ridgeline::workload
