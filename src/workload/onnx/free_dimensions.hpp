// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schema/workload_ref.hpp"
#include "workload/onnx/ort_values.hpp"

namespace ridgeline::workload {

/// The model's symbolic dimensions and the one size each has in every member of the shape mix, with the batch set to
/// `batch` unless that is 0. A name that has several sizes in the mix is left out: it cannot be fixed.
[[nodiscard]] std::map<std::string, std::int64_t> free_dimensions(const schema::WorkloadRef& workload,
                                                                  std::int64_t batch);

/// A session whose free dimensions were fixed reports them as fixed: gives the ports of `workload` that are symbolic in
/// the model their names back, so that the batch axis is still known.
void restore_free_dimensions(std::vector<OrtPort>& ports, const schema::WorkloadRef& workload);

}  // namespace ridgeline::workload
