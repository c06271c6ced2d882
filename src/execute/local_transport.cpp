// SPDX-License-Identifier: Apache-2.0
#include "execute/local_transport.hpp"

#include <fmt/ranges.h>

#include "execute/local_environment.hpp"

namespace ridgeline::execute {

LocalTransport::LocalTransport() {
  add(job_kind::kEnvironment, [](const Job&) { return JobAnswer{local_environment(), {}}; });
}

std::vector<std::string> LocalTransport::capabilities() const {
  std::vector<std::string> kinds;
  for (const auto& [kind, handler] : handlers_) kinds.push_back(kind);
  return kinds;
}

base::Result<JobAnswer> LocalTransport::run(const Job& job) {
  const auto found = handlers_.find(job.kind);
  if (found == handlers_.end())
    return base::fail(base::ErrorCode::unsupported, "a job of kind \"{}\" cannot run here; expected one of: {}",
                      job.kind, fmt::join(capabilities(), ", "));
  return found->second(job);
}

}  // namespace ridgeline::execute
