// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/version.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/doctor_report.hpp"
#include "doctor/gather_facts.hpp"
#include "doctor/messages.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/local_environment.hpp"
#include "ridgeline/doctor_text.hpp"
#include "ridgeline/inject_library.hpp"
#include "ridgeline/runtime_flags.hpp"
#include "ridgeline/screen_terminal.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {
namespace {

namespace fs = std::filesystem;

struct DoctorFlags {
  std::string model;
  RuntimeFlags where;
  bool json = false;
  bool fix_hints = false;
  bool no_load = false;
};

/// What is being done, on one line of a terminal that is wiped afterwards.
class Progress {
 public:
  explicit Progress(bool shown) : shown_(shown) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { show(""); }
  void show(std::string_view doing) const {
    if (!shown_) return;
    fmt::print(stderr, "\r\x1b[K{}{}", doing, doing.empty() ? "" : " ...");
    std::fflush(stderr);
  }

 private:
  bool shown_;
};

base::Result<doctor::Sources> sources_of(const DoctorFlags& flags, const Context& context) {
  doctor::Sources sources;
  RL_TRY_ASSIGN(sources.where, read_runtime_flags(flags.where));
  sources.environment = execute::local_environment();
  sources.search = workload::OrtSearchEnvironment::of_this_process();
  sources.model = flags.model;
  sources.load = !flags.no_load;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) sources.visible_devices = visible;
  std::error_code error;
  sources.folders = {{doctor::messages::folder_results(), context.database_path().parent_path()},
                     {doctor::messages::folder_caches(), base::cache_folder()},
                     {doctor::messages::folder_temporary(), fs::temp_directory_path(error)},
                     {doctor::messages::folder_current(), fs::current_path(error)}};
  sources.make_executor = [](const schema::GpuDescription* gpu) {
    return make_executor(execute::Isolation::trial, gpu != nullptr ? execute::GpuGroup{*gpu} : execute::GpuGroup{}, {});
  };
  sources.inject_library = find_inject_library();
  sources.open_library = doctor::opener_in_child({base::executable_path().string(), "worker", "--open-library"});
  return sources;
}

base::Result<int> run_doctor(const DoctorFlags& flags, const Context& context) {
  RL_TRY_ASSIGN(auto sources, sources_of(flags, context));
  doctor::DoctorReport report;
  report.ridgeline_version = base::version();
  report.utc = base::system_clock().utc_now();
  report.hostname = sources.environment.hostname;
  report.os = sources.environment.os;
  {
    const Progress progress(inspect_terminal(stderr).interactive && !flags.json);
    sources.on_progress = [&progress](std::string_view doing) { progress.show(doing); };
    auto facts = doctor::gather_facts(sources);
    report.checks = doctor::judge(facts);
    report.runtimes = std::move(facts.runtime.found);
  }
  if (base::cancel_requested()) return base::fail(base::ErrorCode::cancelled, "cancelled");
  const auto terminal = inspect_terminal(stdout);
  const bool unicode = locale_is_utf8();
  const auto text = flags.json        ? base::dump_json(schema::with_words(words(), report)) + "\n"
                    : flags.fix_hints ? fix_hints_text(words(), report, terminal, unicode)
                                      : doctor_text(words(), report, terminal, unicode);
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    return base::fail(base::ErrorCode::io, "cannot write to standard output").hint("is the disk full?");
  return report.exit_code();
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto flags = std::make_shared<DoctorFlags>();
  auto* command =
      add_subcommand(app, context, "doctor", "Check driver, libraries, GPUs and machine, and show how to fix problems",
                     "  ridgeline doctor\n  ridgeline doctor --model model.onnx\n  ridgeline doctor --fix-hints\n\n"
                     "Lines are cut to the terminal's width; ridgeline doctor | cat, or --json, shows them in full.",
                     [flags, &context] { return run_doctor(*flags, context); });
  command->add_option("--model", flags->model, "Also try this model on every provider")->type_name("FILE");
  add_runtime_flags(*command, flags->where);
  auto* json = command->add_flag("--json", flags->json, "Print as JSON");
  command->add_flag("--fix-hints", flags->fix_hints, "Print the fixes as a checklist with commands to copy")
      ->excludes(json);
  command->add_flag("--no-load", flags->no_load, "Run no tests on the GPU or CPU (for a busy machine)");
}

}  // namespace ridgeline::app
