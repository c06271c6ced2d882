// SPDX-License-Identifier: Apache-2.0
#include "workload/workload_registry.hpp"

#include "base/text.hpp"
#include "workload/onnx/onnx_kind.hpp"
#include "workload/synthetic/synthetic_kind.hpp"

namespace ridgeline::workload {

base::Result<const WorkloadKind*> WorkloadRegistry::find(const std::string& name) const {
  if (const auto found = kinds_.find(name); found != kinds_.end()) return &found->second;
  std::vector<std::string> names;
  std::string listed;
  for (const auto& [known, kind] : kinds_) {
    names.push_back(known);
    listed += (listed.empty() ? "" : ", ") + known;
  }
  return base::fail(base::ErrorCode::invalid_argument, "unknown workload kind \"{}\"; known kinds: {}", name, listed)
      .hint("{}", base::did_you_mean(name, names));
}

WorkloadRegistry make_default_registry() {
  WorkloadRegistry registry;
  registry.add(make_onnx_kind());
  registry.add(make_synthetic_kind());
  return registry;
}

}  // namespace ridgeline::workload
