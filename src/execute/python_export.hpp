// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "execute/json_child.hpp"
#include "schema/exported_model.hpp"

namespace ridgeline::execute {

/// The model of a function of the user's as ONNX files in `folder`, which is there: a row for each of the precisions by
/// each exporter that PyTorch may have, side by side in processes of their own (`child`), each within `limit_s`.
///   {"op":"export","target":T,"exporter":E,"precision":P,"seed":N,"folder":F,"together":how many of them there are}
///   -> {"model":FILE,"inputs":[{"name","path"}..]}
[[nodiscard]] std::vector<schema::ExportedModel> export_models(const JsonChildOptions& child,
                                                               const schema::WorkloadRef& workload,
                                                               const std::string& folder,
                                                               const std::vector<std::string>& precisions,
                                                               double limit_s);

}  // namespace ridgeline::execute
