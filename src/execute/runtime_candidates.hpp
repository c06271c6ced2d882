// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "execute/found_runtimes.hpp"

namespace ridgeline::execute {

/// A provider of a runtime that this machine can use.
struct UsableProvider {
  std::size_t index = 0;            ///< of the runtime in FoundRuntimes::all
  schema::RuntimeIdentity runtime;  ///< with its plug-ins
  std::string provider;             ///< ExecutionProvider::id
  std::optional<schema::ProviderPlugin> plugin{};

  /// "OpenVINO (CPU) of onnxruntime 1.24.1 at /x/libonnxruntime.so.1.24.1"
  [[nodiscard]] std::string title(const schema::FoundRuntime& found) const;
};

struct RuntimeCandidates {
  std::vector<UsableProvider> usable;        ///< by runtime as in FoundRuntimes::all, its own providers before plug-ins
  std::vector<schema::Message> passed_over;  ///< runtimes, providers and plug-ins, each with the reason
};

/// Everything that trials can run on: every runtime found, each with every provider that it has or that a plug-in of it
/// offers. Asks them all; also where one is pinned, which says only what the user has now. Errors: unavailable, for
/// what the user named: a runtime that cannot be used, plug-ins that no runtime can use; cancelled.
[[nodiscard]] base::Result<RuntimeCandidates> runtime_candidates(FoundRuntimes& runtimes,
                                                                 const schema::Environment& environment);

}  // namespace ridgeline::execute
