// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/kept_trace.hpp"

#include <filesystem>
#include <system_error>

#include "campaign/messages.hpp"
#include "trace/file/trace_reader.hpp"
#include "trace/file/trace_writer.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

void keep_trace(const trace::Trace& trace, const std::string& folder, schema::ProfileRun& run) {
  if (folder.empty()) return;
  std::error_code error;
  const auto absolute = std::filesystem::absolute(folder, error);
  if (!error) std::filesystem::create_directories(absolute, error);
  if (error) {
    run.notes.push_back(messages::profile_trace_not_kept({.folder = folder, .reason = error.message()}));
    return;
  }
  const auto path = (absolute / (run.id + ".rltrace")).string();
  if (const auto written = trace::write_trace_file(trace, path); !written)
    run.notes.push_back(messages::profile_trace_not_kept({.reason = base::error_line(written.error())}));
  else
    run.trace_file = path;
}

Result<trace::Trace> kept_trace(const schema::ProfileRun& run) {
  if (run.trace_file.empty())
    return base::fail(ErrorCode::not_found, "run {}: its trace was not kept", run.id).hint("profile again");
  std::error_code ignored;
  if (!std::filesystem::exists(run.trace_file, ignored))
    return base::fail(ErrorCode::not_found, "run {}: its trace {} is gone", run.id, run.trace_file)
        .hint("profile again");
  return trace::read_trace_file(run.trace_file);
}

}  // namespace ridgeline::campaign
