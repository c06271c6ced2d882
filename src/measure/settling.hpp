// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

namespace ridgeline::measure {

/// Sleeps, a millisecond at a time and at least one, until no other thread of this process is running or waiting for a
/// core, `limit` at most. After an inference the threads of ONNX Runtime's pool go on spinning for tens of milliseconds
/// and would take their cores from whatever runs next; without a pool all is quiet at once.
/// Returns the time slept.
base::Nanoseconds settle(base::Nanoseconds limit);

}  // namespace ridgeline::measure
