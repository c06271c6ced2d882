// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "workload/workload.hpp"

namespace ridgeline::execute {

/// A workload of the reference configuration, prepared anew by each call.
using MakePrepared = std::function<base::Result<std::unique_ptr<workload::Workload>>()>;

/// Outputs that others are compared with.
struct ReferenceOutputs {
  workload::OutputSet outputs;  ///< with the spread of those that change from call to call
  /// Between two sessions, the second a call later: what ran the same way differs by so much. Its metric and what it
  /// says of variation are the outputs' own.
  schema::OutputError noise;
};

/// Two sessions where outputs are the same in each; where they are not, one more, which calls again and again. Errors:
/// those of making and running the workload.
[[nodiscard]] base::Result<ReferenceOutputs> make_reference_outputs(const MakePrepared& prepared);

/// How far the outputs of a workload are from the reference's, over as many calls as that asks for.
[[nodiscard]] base::Result<schema::OutputError> compare_with_reference(workload::Workload& workload,
                                                                       workload::OutputSet reference);

}  // namespace ridgeline::execute
