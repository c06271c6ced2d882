// SPDX-License-Identifier: Apache-2.0
// Reads a trace of any kind and prints its events, the seconds that it took and the most memory that the process had:
//   rl_trace_import FILE [--write OUT.rltrace] [--copies N]
// With --write the events, N times behind each other, are written as a trace file and read again.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "trace/file/trace_reader.hpp"
#include "trace/file/trace_writer.hpp"
#include "trace/import/import_file.hpp"
#include "tracefile/table_columns.hpp"

namespace {

using namespace ridgeline;

std::size_t events_of(const trace::Trace& trace) {
  std::size_t events = 0;
  trace::each_table(trace, [&](trace::BlockKind, const auto& table) { events += table.size(); });
  return events;
}

/// Appends the rows [0, rows) of every column again.
class RowCopier {
 public:
  RowCopier(std::size_t rows, std::int64_t shift_ns) : rows_(rows), shift_ns_(shift_ns) {}
  template <typename Value>
  void deltas(std::vector<Value>& column) {
    const auto shift = is_first_ ? shift_ns_ : 0;
    is_first_ = false;
    for (std::size_t i = 0; i < rows_; ++i) column.push_back(column[i] + static_cast<Value>(shift));
  }
  void durations(std::vector<std::int64_t>& column, const std::vector<std::int64_t>&) { same(column); }
  void names(std::vector<trace::NameId>& column) { same(column); }
  template <bool kOfGpu>
  void lanes(std::vector<trace::LaneId>& column) {
    same(column);
  }
  template <typename Kind>
  void kinds(std::vector<Kind>& column) {
    same(column);
  }
  template <typename Value>
  void numbers(std::vector<Value>& column) {
    same(column);
  }
  void extents(std::vector<trace::Dim3>& column) { same(column); }

 private:
  template <typename Value>
  void same(std::vector<Value>& column) {
    for (std::size_t i = 0; i < rows_; ++i) column.push_back(column[i]);
  }
  std::size_t rows_;
  std::int64_t shift_ns_;
  bool is_first_ = true;  ///< the starts
};

void repeat(trace::Trace& trace, int copies) {
  trace::each_table(trace, [&](trace::BlockKind, auto& table) {
    const auto rows = table.size();
    for (int copy = 1; copy < copies; ++copy) {
      RowCopier copier(rows, copy * std::int64_t{1'000'000'000});
      trace::code_columns(copier, table);
    }
  });
}

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

double peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int fail(const base::Error& error) {
  fmt::print(stderr, "error: {}\n", base::error_line(error));
  return 1;
}

int write(trace::Trace& trace, const std::string& path, int copies) {
  repeat(trace, copies);
  const auto events = events_of(trace);
  auto begun = std::chrono::steady_clock::now();
  if (const auto written = trace::write_trace_file(trace, path); !written) return fail(written.error());
  const auto write_s = seconds_since(begun);
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  begun = std::chrono::steady_clock::now();
  const auto back = trace::read_trace_file(path);
  if (!back) return fail(back.error());
  fmt::print("{} events, {:.2f} bytes each, written in {:.3f} s, read in {:.3f} s\n", events_of(*back),
             bytes / static_cast<double>(std::max<std::size_t>(1, events)), write_s, seconds_since(begun));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string out;
  int copies = 1;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--write") == 0) out = argv[i + 1];
    if (std::strcmp(argv[i], "--copies") == 0) copies = std::atoi(argv[i + 1]);
  }
  if (argc < 2 || argc % 2 != 0) {
    std::fputs("rl_trace_import FILE [--write OUT.rltrace] [--copies N]\n", stderr);
    return 2;
  }
  const auto begun = std::chrono::steady_clock::now();
  auto file = trace::import_file(argv[1]);
  const auto read_s = seconds_since(begun);
  if (!file) return fail(file.error());
  fmt::print("{} events, read in {:.3f} s, {:.0f} MiB\n",
             file->trace ? events_of(*file->trace) : file->counters->size(), read_s, peak_mib());
  return file->trace && !out.empty() ? write(*file->trace, out, copies) : 0;
}
