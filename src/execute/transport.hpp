// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "execute/job.hpp"

namespace ridgeline::execute {

/// Brings jobs to one slot, one at a time, and their answers back. Made, used and destroyed by one thread.
class Transport {
 public:
  virtual ~Transport() = default;
  /// The kinds of job that the slot can run.
  [[nodiscard]] virtual std::vector<std::string> capabilities() const = 0;
  /// Errors: unsupported (no such kind here), cancelled, out_of_time, and those of the job's kind. A trial that fails
  /// is an answer.
  [[nodiscard]] virtual base::Result<JobAnswer> run(const Job& job) = 0;
};

}  // namespace ridgeline::execute
