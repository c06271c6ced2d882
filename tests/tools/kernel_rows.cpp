// SPDX-License-Identifier: Apache-2.0
// Where each kernel of a trace belongs, for scripts/profile_gpu.sh: "TRACE" prints a line a kernel of its start and
// duration in ns, its grid's x and y, its name, the path of its row of the module tree ("" where it has none), and
// whether that is a node of ONNX Runtime (1, 0), separated by tabs.
#include <cstdio>
#include <string>

#include "trace/analysis/analysed_trace.hpp"
#include "trace/file/trace_reader.hpp"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s TRACE.rltrace\n", arguments[0]);
    return 2;
  }
  const auto trace = ridgeline::trace::read_trace_file(arguments[1]);
  if (!trace) {
    std::fprintf(stderr, "error: %s\n", trace.error().message.c_str());
    return 1;
  }
  const ridgeline::trace::AnalysedTrace analysed(*trace);
  const auto& kernels = trace->kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto row = analysed.kernels.row[i];
    const bool placed = row != 0 && row != ridgeline::trace::kNowhere && row != analysed.attribution.unattributed;
    std::printf("%lld\t%lld\t%d\t%d\t%s\t%s\t%d\n", static_cast<long long>(kernels.start_ns[i]),
                static_cast<long long>(kernels.duration_ns[i]), kernels.grid[i].x, kernels.grid[i].y,
                std::string(trace->strings.text(kernels.name[i])).c_str(),
                placed ? ridgeline::trace::path_of(analysed.attribution, row).c_str() : "",
                placed && analysed.attribution.rows[row].kind == ridgeline::schema::ModuleKind::node ? 1 : 0);
  }
  return 0;
}
