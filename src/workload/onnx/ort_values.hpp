// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/model_description.hpp"
#include "workload/element_type.hpp"
#include "workload/onnx/npy_file.hpp"
#include "workload/workload.hpp"

struct OrtApi;
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

/// An unfilled CPU tensor of the same type and shape. nullptr when `value` is no tensor of fixed-size elements, or has
/// another shape than the model declares (-1: any), which the runtime only warns of but refuses in a buffer of ours.
[[nodiscard]] base::Result<OrtValueHandle> make_tensor_like(const OrtApi& api, const OrtValue* value,
                                                            const std::vector<std::int64_t>& declared);

/// Appends a copy of `value`. Sequences and maps are taken apart into "name[0]", "name[1]"..., an empty optional adds
/// nothing, text is kept with a NUL after each element. Errors: unsupported for sparse and opaque values.
[[nodiscard]] base::Result<void> append_outputs(const OrtApi& api, const OrtValue* value, const std::string& name,
                                                OutputSet& outputs);

}  // namespace ridgeline::workload
