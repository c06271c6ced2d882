// SPDX-License-Identifier: Apache-2.0
// Reads a trace of any kind and writes it by the name of OUT: for Perfetto (.perfetto-trace) or as Chrome's JSON.
// Prints how many events it has and how long each step took.
#include <chrono>
#include <cstdio>
#include <string>

#include "trace/export/chrome_export.hpp"
#include "trace/export/perfetto_export.hpp"
#include "trace/import/file_kind.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/import/nsys_import.hpp"
#include "trace/import/onnxruntime_import.hpp"

namespace {

using namespace ridgeline;

base::Result<trace::Trace> import(const std::string& path) {
  RL_TRY_ASSIGN(const auto kind, trace::file_kind(path));
  switch (kind) {
    case trace::FileKind::kineto: return trace::import_kineto(path);
    case trace::FileKind::nsys: return trace::import_nsys(path);
    case trace::FileKind::onnxruntime: return trace::import_onnxruntime(path);
    case trace::FileKind::ncu:
    case trace::FileKind::snapshot: break;
  }
  return base::fail(base::ErrorCode::unsupported, "{}: has counters, no times", path);
}

base::Result<void> write(const trace::Trace& what, const std::string& path) {
  if (path.find(".perfetto-trace") != std::string::npos) return trace::write_perfetto(what, path);
  return trace::write_chrome_json(what, path);
}

int fail(const base::Error& error) {
  fmt::print(stderr, "error: {}\n", base::error_line(error));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("rl_trace_export IN OUT\n", stderr);
    return 2;
  }
  const auto seconds = [](auto since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  };
  const auto begun = std::chrono::steady_clock::now();
  const auto trace = import(argv[1]);
  if (!trace) return fail(trace.error());
  const auto read_s = seconds(begun);
  const auto read = std::chrono::steady_clock::now();
  if (const auto written = write(*trace, argv[2]); !written) return fail(written.error());
  fmt::print("{} events, read in {:.3f} s, written in {:.3f} s\n",
             trace->kernels.size() + trace->copies.size() + trace->sets.size() + trace->syncs.size() +
                 trace->calls.size() + trace->ranges.size() + trace->nodes.size(),
             read_s, seconds(read));
  return 0;
}
