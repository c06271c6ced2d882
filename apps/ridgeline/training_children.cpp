// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/training_children.hpp"

#include <cstdlib>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "ridgeline/python_packages.hpp"
#include "workload/training/plugin_library.hpp"

namespace ridgeline::app {
namespace {

using base::Result;
using execute::JsonChildOptions;

JsonChildOptions options_under(const ChildTerms& terms) {
  JsonChildOptions options;
  options.cancelled = &base::cancel_requested;
  options.deadline = terms.deadline;
  options.waiting = terms.waiting;
  return options;
}

Result<JsonChildOptions> python_child(const std::string& interpreter, const std::string& package,
                                      const ChildTerms& terms) {
  RL_TRY_ASSIGN(auto folder, python_packages());
  if (const char* set = std::getenv("PYTHONPATH"); set != nullptr && *set != '\0') folder += ":" + std::string(set);
  auto options = options_under(terms);
  options.command = {interpreter, "-m", package};
  options.environment = {{"PYTHONPATH", folder}, {"PYTHONUNBUFFERED", "1"}};
  return options;
}

}  // namespace

Result<JsonChildOptions> user_child(const std::string& interpreter, const ChildTerms& terms) {
  return python_child(interpreter, "ridgeline_train", terms);
}

Result<JsonChildOptions> models_child(const std::string& interpreter, const ChildTerms& terms) {
  return python_child(interpreter, "ridgeline_models", terms);
}

JsonChildOptions data_child(const ChildTerms& terms) {
  auto options = options_under(terms);
  options.command = {base::executable_path().string(), "train-worker"};
  return options;
}

Result<JsonChildOptions> plugin_child(const std::string& plugin, const ChildTerms& terms) {
  RL_TRY_ASSIGN(const auto plugins, workload::find_torch_plugins(plugin));
  auto options = data_child(terms);
  for (const auto& path : plugins) {
    options.command.emplace_back("--plugin");
    options.command.push_back(path.string());
  }
  return options;
}

Result<JsonChildOptions> training_child(const schema::TrainingJob& job, const std::string& plugin,
                                        const ChildTerms& terms) {
  if (job.kind == "python") return user_child(job.python, terms);
  return trains_in_python(job) ? models_child(job.python, terms) : plugin_child(plugin, terms);
}

}  // namespace ridgeline::app
