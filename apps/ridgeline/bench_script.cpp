// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/bench_script.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "campaign/profile/record_environment.hpp"
#include "execute/training_child.hpp"
#include "ridgeline/python_packages.hpp"
#include "schema/run_request.hpp"
#include "schema/training_lever.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr double kFirstStepsLimitS = 600;  ///< until the first steps of a script, whose data may take minutes to open
constexpr double kEndLimitS = 30;          ///< for a script's exit handlers

}  // namespace

Result<void> check_script_option(const std::string& name) {
  const auto known = schema::training_lever_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  const auto near = base::nearest_name(name, known);
  return fail(ErrorCode::invalid_argument, "--option {}: no such option for a script; known are {}", name,
              fmt::join(known, ", "))
      .hint("{}", near.empty() ? "give the script's own options after --" : fmt::format("did you mean {}?", near));
}

Result<execute::JsonChildOptions> script_child(const schema::TrainingJob& job, const ChildTerms& terms) {
  RL_TRY_ASSIGN(const auto packages, python_packages());
  execute::JsonChildOptions options;
  options.cancelled = &base::cancel_requested;
  options.deadline = terms.deadline;
  options.waiting = terms.waiting;
  options.what = "the script";
  options.close_limit_s = kEndLimitS;
  std::string line = "exec " + job.target;
  if (const auto folder = job.options.find(kScriptFolder); folder != job.options.end())
    line = "cd " + schema::shell_line({folder->second}) + " && " + line;
  options.command = {"sh", "-c", line};
  options.environment = {
      {"PYTHONPATH", campaign::hooked_python_path(packages)}, {"PYTHONUNBUFFERED", "1"}, {"RIDGELINE_SCRIPT", "1"}};
  return options;
}

Result<ScriptFacts> describe_script(const schema::TrainingJob& job, const ChildTerms& terms,
                                    const std::vector<std::pair<std::string, std::string>>& environment) {
  RL_TRY_ASSIGN(auto options, script_child(job, terms));
  options.environment.insert(options.environment.end(), environment.begin(), environment.end());
  if (!terms.logs.empty()) options.log = terms.logs / "000-first-steps.log";
  execute::TrainingChild child(std::move(options));
  const auto answer = child.ask({{"op", "describe"}}, kFirstStepsLimitS);
  child.close();  // its exit handlers run, also after an error
  if (!answer) {
    auto error = answer.error().error;
    if (error.code == ErrorCode::crashed && answer.error().exit_code == 0) {
      error.message =
          "the command ended well, but no Python process of it imported torch and trained; expected a training loop";
      error.hint =
          "give the command that trains, or name a function that returns the model and its data: --python "
          "FILE.py:FUNCTION";
    }
    // Whatever goes wrong here is for the user to fix.
    if (error.code != ErrorCode::cancelled) error.code = ErrorCode::invalid_argument;
    if (error.hint.empty() && !terms.logs.empty())
      error.hint = fmt::format("its output is in {}", (terms.logs / "000-first-steps.log").string());
    return tl::unexpected(std::move(error).in(job.target));
  }
  ScriptFacts facts;
  facts.runtime = answer->value("runtime", "");
  facts.source_sha256 = answer->value("source_sha256", "");
  facts.device = answer->value("device", "cpu");
  if (facts.device == schema::kGpuDevice) facts.device = "cuda:0";
  facts.cuda = answer->value("cuda", false);
  facts.settings.batch = answer->value("batch", std::int64_t{1});
  facts.settings.workers = answer->value("workers", 0);
  facts.settings.pin_memory = answer->value("pin_memory", false) && !schema::is_cpu_device(facts.device);
  facts.settings.amp =
      base::enum_from_name<schema::AmpMode>(answer->value("amp", "off")).value_or(schema::AmpMode::off);
  if (const auto samples = answer->find("samples"); samples != answer->end() && samples->is_number_integer())
    facts.samples = samples->get<std::int64_t>();
  if (const auto rate = answer->find("learning_rate"); rate != answer->end() && rate->is_number())
    facts.learning_rate = rate->get<double>();
  facts.loaders = answer->value("loaders", "");
  for (const auto* key : {"fixed", "refused"}) {
    RL_TRY_ASSIGN(auto found, (base::json_as<std::map<std::string, std::string>>(
                                  answer->value(key, base::Json::object()), "settings of a script")));
    (key == std::string_view("fixed") ? facts.fixed : facts.refused) = std::move(found);
  }
  return facts;
}

std::string script_log_name(int number, const schema::TrainingTrialSpec& spec) {
  const auto& settings = spec.settings;
  auto name = fmt::format("{:03}-batch{}-workers{}-{}", number, settings.batch, settings.workers,
                          settings.amp == schema::AmpMode::off ? "no-amp" : base::enum_name(settings.amp));
  if (settings.pin_memory) name += "-pinned";
  if (spec.data != schema::DataMode::loader) name += fmt::format("-{}", base::enum_name(spec.data));
  return name + ".log";
}

Result<void> copy_work_folder(const std::filesystem::path& copy) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto source = fs::current_path(error);
  const auto target = fs::absolute(copy, error);
  if (fs::exists(target, error) && !fs::is_empty(target, error))
    return fail(ErrorCode::invalid_argument, "--workdir {}: there is something in it already", copy.string())
        .hint("name a folder that is new or empty");
  fs::create_directories(target, error);
  const auto kept = fs::canonical(target, error);
  for (auto entry = fs::directory_iterator(source, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    // A copy within the folder does not contain itself.
    const auto relative = kept.lexically_relative(fs::canonical(entry->path(), error));
    error.clear();
    if (!relative.empty() && *relative.begin() != "..") continue;
    fs::copy(entry->path(), target / entry->path().filename(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    if (error) break;
  }
  if (error)
    return fail(ErrorCode::io, "--workdir {}: copying {}: {}", copy.string(), source.string(), error.message());
  return {};
}

}  // namespace ridgeline::app
