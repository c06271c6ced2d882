// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "workload/synthetic/synthetic_options.hpp"

namespace ridgeline::workload {

/// Makes the fault happen in this process. Returns when the kind lets the work go on; the error of kinds that a runtime
/// reports; does not return from deadly ones.
[[nodiscard]] base::Result<void> inject_fault(const Fault& fault);

}  // namespace ridgeline::workload
