// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "workload/workload.hpp"

namespace ridgeline::workload {

/// Values of real types; complex numbers as pairs. Empty for types whose bytes are compared as they are.
[[nodiscard]] std::vector<double> real_values(const NamedTensor& tensor);

}  // namespace ridgeline::workload
