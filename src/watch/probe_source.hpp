// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "analysis/degradation_cause.hpp"
#include "analysis/probe_figure.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "watch/baseline.hpp"

namespace ridgeline::watch {

/// What one look at the service gave.
struct Observation {
  std::optional<analysis::ProbeFigure> figure;  ///< nullopt: nothing to judge (no traffic), or `problem`
  schema::Message problem;                      ///< why the probe failed; empty when it did not
  std::string note;                             ///< worth a line for people: "3 lines were no latency"
  analysis::ServiceState state;                 ///< what came along with the look
};

/// Where the figures come from: a probe of our own, or what the service writes.
class ProbeSource {
 public:
  virtual ~ProbeSource() = default;
  /// Takes as long as the probe. Errors: cancelled, and faults of ours; whatever is wrong with the service or its files
  /// is Observation::problem.
  [[nodiscard]] virtual base::Result<Observation> look() = 0;
  /// Fills in what is too dear for every look: hashes and versions of what is on disk now.
  virtual void look_closer(analysis::ServiceState& state) = 0;
  /// Starts over with everything read anew: after SIGHUP and after a retune, during which it lets go of the GPU.
  virtual void reset() = 0;
  /// Goes on with another baseline of the same model.
  virtual void set_baseline(const Baseline& baseline) = 0;
  /// Where it stands in its input, kept over restarts; null for nothing.
  [[nodiscard]] virtual base::Json position() const { return nullptr; }
};

}  // namespace ridgeline::watch
