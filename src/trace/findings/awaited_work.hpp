// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "schema/message.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// What queued work waits for on a GPU that does nothing meanwhile: work of another GPU or program, and the call that
/// made its stream wait.
class AwaitedWork {
 public:
  /// `analysed` must outlive the object.
  explicit AwaitedWork(const AnalysedTrace& analysed);

  /// Until which work ends, or behind which call; empty where the trace does not
  /// tell. Of a gap before queued work.
  [[nodiscard]] schema::Message of(const Gap& gap) const;

 private:
  struct Work {
    std::int64_t end_ns = 0;
    std::int64_t start_ns = 0;
    NameId name = 0;
    LaneId lane = 0;
  };
  [[nodiscard]] Place waiting_call(const Gap& gap) const;
  [[nodiscard]] std::optional<Work> work_that_ends(const Gap& gap, bool must_fill) const;

  const AnalysedTrace& analysed_;
  std::map<ProcessDevice, std::vector<Work>> work_;  ///< by its end
  std::vector<std::vector<Place>> calls_;            ///< of each thread, those that launch work or let a stream wait
};

}  // namespace ridgeline::trace
