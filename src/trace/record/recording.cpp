// SPDX-License-Identifier: Apache-2.0
#include "trace/record/recording.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "trace/file/trace_reader.hpp"
#include "trace/import/shifted_graph_ends.hpp"
#include "trace/messages.hpp"
#include "trace/record/device_numbers.hpp"
#include "trace/record/merge_traces.hpp"
#include "trace/record/recording_notes.hpp"
#include "trace/record/session_nodes.hpp"
#include "tracefile/table_columns.hpp"

namespace ridgeline::trace {
namespace {

namespace fs = std::filesystem;
using base::Result;

struct ProcessFiles {
  std::int64_t pid = 0;
  fs::path trace;
  fs::path facts;
};

/// By their stems: "PID", and "PID.2" of a process that then ran another program by exec.
Result<std::map<std::string, ProcessFiles>> files_of(const fs::path& folder) {
  std::map<std::string, ProcessFiles> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto stem = at->path().stem().string();
    const auto pid = base::parse_integer(stem.substr(0, stem.find('.')), "process");
    if (!pid) continue;
    const auto ending = at->path().extension();
    if (ending != ".rltrace" && ending != ".facts") continue;
    auto& files = out[stem];
    files.pid = *pid;
    (ending == ".rltrace" ? files.trace : files.facts) = at->path();
  }
  if (error) return base::os_failure("read", folder, error.value());
  return out;
}

/// That the file of a process which was killed ends early is one note for all of them (add_recording_notes).
void note_end(std::vector<schema::Message>& notes, bool has_facts, RecordedProcess& process) {
  const auto early = std::find_if(notes.begin(), notes.end(),
                                  [](const schema::Message& note) { return note.is("trace.file_ends_early"); });
  if (!has_facts) process.finished = early == notes.end();
  if (early != notes.end() && (has_facts || !process.finished)) notes.erase(early);
}

}  // namespace

std::vector<RecordedProcess> read_processes(const fs::path& folder) {
  std::vector<RecordedProcess> out;
  for (const auto& [stem, of_process] : files_of(folder).value_or(std::map<std::string, ProcessFiles>()))
    if (const auto text = base::read_file(of_process.facts)) {
      out.push_back(read_facts(*text));
      out.back().pid = of_process.pid;
    }
  return out;
}

Result<Recording> read_recording(const fs::path& folder) {
  RL_TRY_ASSIGN(const auto files, files_of(folder));
  Recording out;
  DeviceNumbers numbers;
  std::vector<Trace> traces;
  std::vector<schema::Message> unreadable;
  for (const auto& [stem, of_process] : files) {
    const auto pid = of_process.pid;
    RecordedProcess process;
    if (!of_process.facts.empty())
      if (const auto text = base::read_file(of_process.facts)) process = read_facts(*text);
    process.pid = pid;
    auto& known = out.processes.emplace_back(std::move(process));
    if (of_process.trace.empty()) continue;
    std::error_code ignored;
    const auto bytes = static_cast<std::int64_t>(fs::file_size(of_process.trace, ignored));
    if (ignored || bytes == 0) continue;  // killed before it had anything
    auto trace = read_trace_file(of_process.trace.string());
    if (!trace) {
      unreadable.push_back(
          messages::recording_unreadable({.process = std::to_string(pid), .reason = base::error_line(trace.error())}));
      continue;
    }
    out.bytes += bytes;
    trace->give_process(pid);
    numbers.apply(known.devices, *trace);
    correct_shifted_graph_ends(*trace);
    note_end(trace->notes, !of_process.facts.empty(), known);
    traces.push_back(*std::move(trace));
  }
  out.trace = merge_traces(std::move(traces));
  join_session_nodes(folder, out.trace);
  out.devices = numbers.numbers();
  std::size_t events = 0;
  each_table(out.trace, [&](BlockKind, const auto& table) { events += table.size(); });
  out.events = static_cast<std::int64_t>(events);
  out.trace.of_recorder = true;
  out.trace.notes.insert(out.trace.notes.end(), unreadable.begin(), unreadable.end());
  add_recording_notes(out.processes, out.trace);
  return out;
}

}  // namespace ridgeline::trace
