// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "execute/executor.hpp"
#include "schema/profile.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

struct VerifyRequest {
  schema::ProfileRun run;
  std::size_t finding = 0;    ///< its place in the run
  std::string python_folder;  ///< of our packages
  std::optional<base::Nanoseconds> max_time;
};

struct VerifiedFinding {
  schema::ProfileRun run;  ///< with the verification in its finding, as it is stored
  bool interrupted = false;
};

/// Whether the finding of a run proposes something that can be tried without an edit of the code.
[[nodiscard]] bool can_verify(const schema::ProfileRun& run, const schema::ProfileFinding& finding);

/// Tries the change that a finding of a stored profile proposes, and stores what came of it in that run.
class VerifyCampaign {
 public:
  /// Both must outlive it. `stage` is called with what begins.
  VerifyCampaign(execute::Executor& executor, store::Store& store, std::function<void(const std::string&)> stage);

  /// Errors: invalid_argument for a finding that cannot be tried or another folder; cancelled; those of running it.
  [[nodiscard]] base::Result<VerifiedFinding> run(VerifyRequest request);

 private:
  execute::Executor& executor_;
  store::Store& store_;
  std::function<void(const std::string&)> stage_;
};

}  // namespace ridgeline::campaign
