// SPDX-License-Identifier: Apache-2.0
#include "schema/workload_name.hpp"

namespace ridgeline::schema {

WorkloadRef workload_named(std::string_view model) {
  constexpr std::string_view kSynthetic = "synthetic";
  WorkloadRef workload;
  workload.kind = "onnx";
  workload.location = model;
  if (model.substr(0, kSynthetic.size()) != kSynthetic) return workload;
  const auto rest = model.substr(kSynthetic.size());
  if (!rest.empty() && rest.front() != ':') return workload;
  workload.kind = kSynthetic;
  workload.location = rest.empty() ? rest : rest.substr(1);
  return workload;
}

}  // namespace ridgeline::schema
