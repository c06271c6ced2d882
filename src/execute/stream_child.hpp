// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "schema/stream_spec.hpp"
#include "schema/stream_status.hpp"

namespace ridgeline::execute {

struct StreamChildOptions {
  std::vector<std::string> command;  ///< argv of the process: {executable_path, "worker", "--stream"}
  std::vector<std::pair<std::string, std::string>> environment{};  ///< on top of ours: which GPU it sees
  int input_fd = 0;                                                ///< what the source "-" reads
  std::function<void(const std::string&)> on_loaded{};  ///< the model is loaded, and frames are awaited: a line of JSON
  std::function<void(const schema::StreamReady&)> on_ready{};
  std::function<void(const schema::StreamStatus&)> on_status{};  ///< about five times a second
  std::function<void(const schema::Message&)> on_note{};
  /// A frame's line, without its end, in order for each source; an error ends the run. While it does not return the
  /// pipeline is held back.
  std::function<base::Result<void>(const std::string&)> on_frame{};
  /// Polled; true drops what waits and lets what is under way end.
  std::function<bool()> stopping{};
  /// Without a line for so long while frames are in the pipeline it is killed: an inference hangs.
  double stall_timeout_s = 60;
};

/// What a stream came to. With an error the numbers are the last that were told, and its frames' lines are complete
/// nevertheless: frames that were in the pipeline when its process died are told as crashed.
struct StreamOutcome {
  schema::StreamReady ready;
  schema::StreamStatus status;
  std::vector<schema::Message> notes;
  std::uint64_t lines = 0;  ///< frames told
  std::uint64_t lost = 0;   ///< of these, in the pipeline when its process died
  std::optional<base::Error> error{};
};

/// Runs a pipeline in a process of its own until its sources end, it fails, or `stopping` says so. Errors that concern
/// no frame (the process cannot be started) are the result's; what happens to a running one is in the outcome.
[[nodiscard]] base::Result<StreamOutcome> run_stream(const schema::StreamSpec& spec, const StreamChildOptions& options);

}  // namespace ridgeline::execute
