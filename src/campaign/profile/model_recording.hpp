// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/scratch_folder.hpp"
#include "schema/message.hpp"
#include "trace/trace.hpp"

namespace ridgeline::campaign {

/// Records the GPU work of workers that profile a model: its nodes get the kernels that they launch.
class ModelRecording {
 public:
  /// `library`: the one that records, or why there is none.
  explicit ModelRecording(const base::Result<std::string>& library);

  /// For the workers.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& environment() const noexcept {
    return environment_;
  }
  /// Adds what the runs of ONNX Runtime's profile `trace` launched. `start_ns`: its zero, on the recorder's clock. A
  /// note on what was not recorded; empty: all was.
  [[nodiscard]] schema::Message add_work(std::int64_t start_ns, trace::Trace& trace) const;

 private:
  base::ScratchFolder scratch_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::string why_not_;  ///< it does not record; "": it does
};

}  // namespace ridgeline::campaign
