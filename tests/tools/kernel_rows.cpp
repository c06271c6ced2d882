// SPDX-License-Identifier: Apache-2.0
// Where each kernel of a trace belongs, for scripts/profile_gpu.sh: "TRACE" prints a line per kernel of its start and
// duration in ns, its grid's x and y, its name, the path of its row of the module tree ("" where it has none), and
// whether that is a node of ONNX Runtime (1, 0), separated by tabs. "--counted TRACE": likewise of each launch whose
// bytes were counted; behind its name the innermost range around it, step, nodes of a CUDA graph, bytes read from DRAM,
// written to it and through L2, and tensor activity in permille.
#include <cstdio>
#include <string>
#include <string_view>

#include "trace/analysis/analysed_trace.hpp"
#include "trace/file/trace_reader.hpp"

namespace {

using ridgeline::trace::Trace;

void print_kernels(const Trace& trace) {
  const ridgeline::trace::AnalysedTrace analysed(trace);
  const auto& kernels = trace.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto row = analysed.kernels.row[i];
    const bool placed = row != 0 && row != ridgeline::trace::kNowhere && row != analysed.attribution.unattributed;
    std::printf("%lld\t%lld\t%d\t%d\t%s\t%s\t%d\n", static_cast<long long>(kernels.start_ns[i]),
                static_cast<long long>(kernels.duration_ns[i]), kernels.grid[i].x, kernels.grid[i].y,
                std::string(trace.strings.text(kernels.name[i])).c_str(),
                placed ? ridgeline::trace::path_of(analysed.attribution, row).c_str() : "",
                placed && analysed.attribution.rows[row].kind == ridgeline::schema::ModuleKind::node ? 1 : 0);
  }
}

/// The last line of it, without the digit of its kind.
std::string innermost(std::string_view path) {
  const auto line = path.substr(path.rfind('\n') + 1);
  return std::string(line.empty() ? line : line.substr(1));
}

void print_counted(const Trace& trace) {
  const auto& rows = trace.counted;
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::printf("%lld\t%lld\t%d\t%d\t%s\t%s\t%lld\t%d\t%lld\t%lld\t%lld\t%d\n",
                static_cast<long long>(rows.start_ns[i]), static_cast<long long>(rows.duration_ns[i]), rows.grid[i].x,
                rows.grid[i].y, std::string(trace.strings.text(rows.name[i])).c_str(),
                innermost(trace.strings.text(rows.path[i])).c_str(), static_cast<long long>(rows.step[i]),
                rows.graph_nodes[i], static_cast<long long>(rows.dram_read_bytes[i]),
                static_cast<long long>(rows.dram_write_bytes[i]), static_cast<long long>(rows.l2_bytes[i]),
                rows.tensor_permille[i]);
}

}  // namespace

int main(int count, char** arguments) {
  const bool counted = count == 3 && std::string_view(arguments[1]) == "--counted";
  if (count != (counted ? 3 : 2)) {
    std::fprintf(stderr, "usage: %s [--counted] TRACE.rltrace\n", arguments[0]);
    return 2;
  }
  const auto trace = ridgeline::trace::read_trace_file(arguments[count - 1]);
  if (!trace) {
    std::fprintf(stderr, "error: %s\n", trace.error().message.c_str());
    return 1;
  }
  if (counted)
    print_counted(*trace);
  else
    print_kernels(*trace);
  return 0;
}
