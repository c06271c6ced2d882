// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "campaign/profile/profile_campaign.hpp"
#include "ridgeline/compare_runs.hpp"
#include "ridgeline/profile_flags.hpp"
#include "ridgeline/profile_output.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {
namespace {

struct ImportFlags : ProfileFlags {
  std::vector<std::string> files;
};

base::Result<int> import_files(const ImportFlags& flags, const Context& context) {
  RL_TRY(check_profile_flags(flags));
  RL_TRY_ASSIGN(auto store, context.open_store());
  schema::ProfileRequest request;
  request.arguments = {context.arguments.begin() + 1, context.arguments.end()};
  request.files = flags.files;
  RL_TRY_ASSIGN(const auto made, campaign::import_profile(request, store));
  RL_TRY(write_profile(made.run, made.trace, flags));
  return kOk;
}

void add_import(CLI::App& profile, Context& context) {
  auto flags = std::make_shared<ImportFlags>();
  auto* command = add_subcommand(
      profile, context, "import", "Read what another profiler recorded",
      "  ridgeline profile import trace.json.gz                  (PyTorch profiler)\n"
      "  ridgeline profile import run.sqlite                     (Nsight Systems)\n"
      "  ridgeline profile import run.sqlite kernels.csv         (and Nsight Compute of the same program, joined)\n"
      "  ridgeline profile import onnxruntime_profile.json       (ONNX Runtime)\n"
      "\nTo record:\n"
      "  with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True,\n"
      "                              record_shapes=True, schedule=torch.profiler.schedule(wait=2, warmup=2, active=5)) "
      "as p:\n"
      "      for batch in loader: step(batch); p.step()\n"
      "  p.export_chrome_trace('trace.json.gz')\n"
      "  nsys profile --trace=cuda,nvtx -o run python train.py; nsys export --type sqlite run.nsys-rep\n"
      "  ncu --csv --page raw --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,\\\n"
      "      lts__t_bytes.sum python train.py > kernels.csv",
      [flags, &context] { return import_files(*flags, context); });
  command->add_option("FILE", flags->files, "A trace, and counters of the same program")->required()->type_name("");
  add_profile_flags(*command, context, *flags);
}

void add_diff(CLI::App& profile, Context& context) {
  add_comparison(profile, context, "diff", "What differs between two profiles; as ridgeline compare",
                 "  ridgeline profile diff before.json.gz after.json.gz\n  ridgeline profile diff RUN latest");
}

}  // namespace

void add_profile(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("profile", "Where a model's time goes, by module, and what to do about it");
  command->footer(
      "Example:\n  ridgeline profile import trace.json.gz\n  ridgeline profile import run.sqlite kernels.csv "
      "--report-html profile.html");
  command->require_subcommand(1);
  add_import(*command, context);
  add_diff(*command, context);
}

}  // namespace ridgeline::app
