// SPDX-License-Identifier: Apache-2.0
#include "workload/torch/torch_program.hpp"

#include <filesystem>

#include "base/json.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileLoader = R"(spec = importlib.util.spec_from_file_location({0}, {1})
module = importlib.util.module_from_spec(spec)
sys.modules[{0}] = module
spec.loader.exec_module(module)
)";

constexpr std::string_view kProof = R"(
if not torch._dynamo.utils.counters["stats"].get("unique_graphs", 0):
    raise SystemExit("nothing was compiled")
)";

/// As the trial had it: inputs start and outputs end in the host's memory.
constexpr std::string_view kFromHost = R"(
from torch.utils._pytree import tree_map
def from_host(function, one):
    one = dict(one) if hasattr(one, "keys") else one
    host = tree_map(lambda value: value.cpu().pin_memory() if torch.is_tensor(value) and value.is_cuda else value, one)
    def copied(host):
        there = tree_map(lambda value: value.cuda(non_blocking=True) if torch.is_tensor(value) else value, host)
        return tree_map(lambda value: value.cpu() if torch.is_tensor(value) else value, function(there))
    return copied, host
calls = [from_host(function, one) for function, one in calls]
)";

/// {0}: calls for each wait.
constexpr std::string_view kLoop = R"(
{1}gc.collect()
gc.disable()
for function, one in calls * 3:
    function(one)
wait()
times, total, turn = [], 0, 0
while len(times) < 10 or (total < 1 and len(times) < 10000):
    begun = time.perf_counter()
    for _ in range({0}):
        function, one = calls[turn % len(calls)]
        function(one)
        turn += 1
    wait()
    total += time.perf_counter() - begun
    times.append((time.perf_counter() - begun) / {0})
with open(os.environ["RIDGELINE_METRICS_FILE"], "w") as out:
    print("median_s", statistics.median(times), file=out)
sys.stdout.flush()
os._exit(0)  # without waiting for processes of a compiler
)";

/// As a literal of Python.
std::string json_text(const std::string& text) { return base::Json(text).dump(); }

std::string loader(const std::string& module) {
  std::error_code error;
  const auto here = fs::current_path(error);
  const bool is_file = module.size() > 3 && module.compare(module.size() - 3, 3, ".py") == 0;
  const auto path = fs::absolute(module, error);
  const auto folder = is_file ? path.parent_path() : here;
  auto text = fmt::format("sys.path[:1] = [{}, {}]\n", json_text(folder.string()), json_text(here.string()));
  if (!is_file) return text + fmt::format("module = importlib.import_module({})\n", json_text(module));
  return text + fmt::format(fmt::runtime(kFileLoader), json_text(path.stem().string()), json_text(path.string()));
}

}  // namespace

std::string torch_program(const schema::LoadingCode& code, const schema::TrialSpec& spec,
                          const schema::ModelDescription& model) {
  const auto& target = spec.workload.location;
  const auto form = model.python_form.value_or(schema::PythonForm{});
  const auto* graph = spec.configuration.find("cuda_graph");
  const auto* mode = spec.configuration.find("torch_compile");
  const bool has_graph = graph != nullptr && graph->as_bool();
  auto text =
      "import gc, importlib, importlib.util, os, statistics, sys, time\n" +
      loader(target.substr(0, target.rfind(':'))) +
      fmt::format("{0} = module.{0}\nimport torch\ntorch.manual_seed({1})\n\n", function_of(spec), spec.workload.seed) +
      code.python;
  text += fmt::format("\ncalls = {}\nwait = {}\n",
                      !form.several ? "[(run, inputs)]"
                      : has_graph   ? "list(zip(runs, inputs))"
                                    : "[(run, one) for one in inputs]",
                      spec.on_gpu() ? "torch.cuda.synchronize" : "lambda: None");
  if (mode != nullptr && mode->as_text() != "off") text += kProof;
  if (spec.on_gpu() && spec.tensor_location == "host") text += kFromHost;
  return text + fmt::format(fmt::runtime(kLoop), spec.calls_per_wait, kTimedPart);
}

}  // namespace ridgeline::workload
