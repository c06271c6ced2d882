// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/loading_check.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "base/scratch_folder.hpp"
#include "base/text.hpp"
#include "campaign/messages.hpp"
#include "execute/calls.hpp"
#include "execute/fork_server_client.hpp"
#include "execute/torch_caches.hpp"
#include "schema/error_message.hpp"
#include "workload/onnx/loading_code.hpp"
#include "workload/onnx/loading_program.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {
namespace {

namespace fs = std::filesystem;

constexpr double kLongestS = 60;     // for compiling, opening a session and timing it
constexpr double kShortestS = 3;     // below which it is not begun
constexpr double kTorchStartS = 3;   // making the model and timing it, where torch is imported
constexpr double kFromCache = 0.4;   // of compiling, with what was compiled in a cache
constexpr double kTorchGraceS = 15;  // beyond --max-time, as the code is most of the answer of a PyTorch model

/// Of a program that has to be there, else why it is not.
struct Command {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string name;  ///< for people
  schema::Message missing;
};

/// The folder of Python packages that the runtime's library lies in; "": none.
fs::path packages_of(const std::string& library) {
  const auto at = library.rfind("/onnxruntime/capi/");
  return at == std::string::npos ? fs::path() : fs::path(library.substr(0, at));
}

Command python_command(const schema::TrialSpec& spec, const fs::path& folder) {
  const auto site = packages_of(spec.runtime.library_path);
  if (site.empty()) return {{}, {}, "", messages::code_no_package(spec.runtime.library_path)};
  // PREFIX/lib/python3.11/site-packages
  const auto version = site.parent_path().filename().string();
  const bool versioned = version.rfind("python3.", 0) == 0;
  const auto own = site.parent_path().parent_path().parent_path() / "bin" / version;
  Command command;
  if (std::error_code error; versioned && fs::exists(own, error)) {
    command.name = own.string();
  } else {
    command.name = base::find_program(versioned ? version : "python3");
    const char* others = std::getenv("PYTHONPATH");
    command.environment.emplace_back("PYTHONPATH",
                                     site.string() + (others != nullptr ? ":" + std::string(others) : ""));
  }
  if (command.name.empty())
    return {
        {}, {}, "", messages::code_no_python({.python = versioned ? version : "python3", .packages = site.string()})};
  command.words = {command.name, (folder / "program.py").string()};
  return command;
}

/// A folder with ONNX Runtime's headers of C++; "": none is known.
fs::path headers_for(const schema::TrialSpec& spec) {
  std::vector<fs::path> folders{fs::path(spec.runtime.library_path).parent_path().parent_path() / "include"};
  if (const char* root = std::getenv("ONNXRUNTIME_ROOT")) folders.push_back(fs::path(root) / "include");
  std::error_code error;
  std::vector<fs::path> cached;
  for (const auto& entry : fs::directory_iterator(base::cache_folder() / "onnxruntime", error))
    cached.push_back(entry.path() / "include");
  std::sort(cached.rbegin(), cached.rend());
  folders.insert(folders.end(), cached.begin(), cached.end());
  for (const auto* folder : {"/usr/local/include/onnxruntime", "/usr/include/onnxruntime"})
    folders.emplace_back(folder);
  for (const auto& folder : folders)
    if (fs::exists(folder / "onnxruntime_cxx_api.h", error)) return folder;
  return {};
}

Command cpp_command(const schema::TrialSpec& spec, const fs::path& folder) {
  const auto compiler = base::find_program("c++");
  if (compiler.empty()) return {{}, {}, "", messages::code_no_compiler()};
  const auto headers = headers_for(spec);
  if (headers.empty()) return {{}, {}, "", messages::code_no_headers()};
  return {{"/bin/sh", "-c", R"("$0" -std=c++17 -O1 -I "$1" -o "$2/program" "$2/program.cpp" -ldl && exec "$2/program")",
           compiler, headers.string(), folder.string()},
          {},
          fmt::format("{} with the headers of {}", compiler, headers.string()),
          {}};
}

/// The program goes on where it was prepared.
Command torch_command(const CodeProgram& program) {
  const auto& python = program.spec().runtime.library_path;
  Command command{execute::fork_relay(python), execute::torch_cache_environment(program.spec()), python, {}};
  if (!command.words.empty()) command.environment.emplace_back(execute::kAheadKeyVariable, program.path().string());
  command.words.insert(command.words.end(), {python, program.path().string()});
  return command;
}

/// What the trial took to compile and to capture.
double compile_s(const RunContext& context, const schema::TrialSpec& spec) {
  const auto trial = context.result.outcomes.find(spec.key());
  if (trial == context.result.outcomes.end() || !trial->second.measurement) return 0;
  const auto& metrics = trial->second.measurement->metrics;
  const auto found = metrics.find("compile_s");
  return found == metrics.end() ? 0 : found->second;
}

class CodeCheck {
 public:
  /// `more_s`: that the code may take beyond what is usual; `grace_s`: beyond --max-time.
  CodeCheck(RunContext& context, fs::path folder, double more_s, double grace_s)
      : context_(context), folder_(std::move(folder)), more_s_(more_s), grace_s_(grace_s) {}

  /// Of an ONNX model.
  [[nodiscard]] schema::CodeRun python(const schema::LoadingCode& code, const schema::TrialSpec& spec) const {
    return run("program.py", workload::python_program(code, spec), python_command(spec, folder_));
  }
  [[nodiscard]] schema::CodeRun cpp(const schema::LoadingCode& code, const schema::TrialSpec& spec) const {
    return run("program.cpp", workload::cpp_program(code, spec), cpp_command(spec, folder_));
  }

  [[nodiscard]] schema::CodeRun run(const std::string& file, const std::string& source, const Command& command) const {
    if (auto written = base::write_file_atomically(folder_ / file, source); !written && command.missing.empty()) {
      schema::CodeRun out;
      out.problem = schema::message_of({written.error().code, written.error().message});
      return out;
    }
    return run(command);
  }

  /// Of a program that is there.
  [[nodiscard]] schema::CodeRun run(const Command& command) const {
    schema::CodeRun out;
    out.problem = command.missing;
    if (!out.problem.empty()) return out;
    const double left_s = std::min(kLongestS + more_s_, std::max(0.0, context_.budget.left_s()) + grace_s_);
    if (left_s < kShortestS) {
      out.problem = messages::code_no_time();
      return out;
    }
    schema::SweepTrialSpec trial;
    trial.job.command = command.words;
    trial.job.environment = command.environment;
    trial.job.environment.emplace_back("ORT_DISABLE_TELEMETRY", "1");
    trial.job.timeout_s = left_s;
    out.command = command.name;
    const auto ran = execute::run_command_trial(context_.executor, trial, folder_, std::nullopt);
    if (!ran) {
      out.problem = schema::message_of({ran.error().code, ran.error().message});
    } else if (ran->failure) {
      out.problem = ran->failure->message;
    } else if (const auto found = ran->metrics.find("median_s"); found != ran->metrics.end()) {
      out.median_s = found->second;
    } else {
      out.problem = messages::code_wrote_no_time();
    }
    return out;
  }

 private:
  RunContext& context_;
  fs::path folder_;
  double more_s_;
  double grace_s_;
};

}  // namespace

void run_code(RunContext& context, const schema::TrialSpec& spec, schema::LoadingCode& code) {
  context.observer.stage("running the code of the recommendation");
  if (spec.workload.kind == workload::kPythonKind) {
    auto& program = context.code_program;
    if (!program || program->spec().key() != spec.key()) program.emplace(spec, context.result.run.model);
    const double compiled_s = compile_s(context, spec);
    const bool is_short = context.budget.is_short();
    if (is_short && !program->is_ready() && context.budget.left_s() < kTorchStartS + kFromCache * compiled_s) {
      code.python_run = schema::CodeRun{"", std::nullopt, messages::code_no_time()};
      return;
    }
    const CodeCheck check(context, program->folder(), compiled_s, is_short && !program->is_ready() ? 0 : kTorchGraceS);
    code.python_run = program->path().empty() ? schema::CodeRun{"", std::nullopt, messages::code_no_folder()}
                                              : check.run(torch_command(*program));
    return;
  }
  const base::ScratchFolder folder("code");
  if (folder.path().empty()) {
    code.python_run = code.cpp_run = schema::CodeRun{"", std::nullopt, messages::code_no_folder()};
    return;
  }
  const CodeCheck check(context, folder.path(), 0, 0);
  code.python_run = check.python(code, spec);
  code.cpp_run = check.cpp(code, spec);
}

void time_current_code(RunContext& context, const schema::TrialSpec& current, schema::LoadingCode& code) {
  const auto own = workload::loading_code(current, workload::RuntimeAccess::opened);
  const base::ScratchFolder folder("code");
  if (!own || folder.path().empty()) return;
  const auto was_timed = [](const std::optional<schema::CodeRun>& run) { return run && run->median_s; };
  if (!was_timed(code.python_run) && !was_timed(code.cpp_run)) return;
  context.observer.stage("running the code of the current configuration beside it");
  const CodeCheck check(context, folder.path(), 0, 0);
  if (was_timed(code.python_run)) code.python_run->current_median_s = check.python(*own, current).median_s;
  if (was_timed(code.cpp_run)) code.cpp_run->current_median_s = check.cpp(*own, current).median_s;
}

}  // namespace ridgeline::campaign
