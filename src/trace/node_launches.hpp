// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Tells nodes whose time is that of launching work which a GPU does later, as its provider's nodes return before it is
/// done; those of a provider which is not known may be so too. No rates follow from such a time.
class LaunchNodes {
 public:
  /// `trace` must outlive it.
  explicit LaunchNodes(const Trace& trace);
  [[nodiscard]] bool contains(std::size_t node) const { return providers_.count(trace_.nodes.provider[node]) != 0; }
  [[nodiscard]] bool empty() const noexcept { return providers_.empty(); }
  [[nodiscard]] const std::set<NameId>& providers() const noexcept { return providers_; }

 private:
  const Trace& trace_;
  std::set<NameId> providers_;
};

/// What the times of such nodes are; empty: there are none.
[[nodiscard]] schema::Message launch_note(const Trace& trace);

}  // namespace ridgeline::trace
