// SPDX-License-Identifier: Apache-2.0
#include "trace/node_launches.hpp"

#include <optional>
#include <string_view>

#include "schema/execution_provider.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {

LaunchNodes::LaunchNodes(const Trace& trace) : trace_(trace) {
  const std::set<NameId> all(trace.nodes.provider.begin(), trace.nodes.provider.end());
  for (const auto provider : all) {
    const auto name = trace.strings.text(provider);
    const auto* row = schema::find_provider_named(name);
    if (row == nullptr ? !name.empty() : row->on_gpu()) providers_.insert(provider);
  }
}

schema::Message launch_note(const Trace& trace) {
  bool on_gpu = false;
  std::set<std::string_view> unknown;
  const LaunchNodes launches(trace);
  for (const auto provider : launches.providers()) {
    const auto name = trace.strings.text(provider);
    if (schema::find_provider_named(name) == nullptr)
      unknown.insert(name);
    else
      on_gpu = true;
  }
  if (!on_gpu && unknown.empty()) return {};
  std::optional<std::int64_t> kernels;
  if (trace.kernels.size() > 0) kernels = static_cast<std::int64_t>(trace.kernels.size());
  return messages::node_launches({.on_gpu = on_gpu, .kernels = kernels, .unknown = {unknown.begin(), unknown.end()}});
}

}  // namespace ridgeline::trace
