// SPDX-License-Identifier: Apache-2.0
#include "execute/python_kind.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "execute/fork_server_client.hpp"
#include "execute/python_export.hpp"
#include "execute/python_workload.hpp"
#include "execute/torch_caches.hpp"
#include "schema/messages.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;

constexpr double kDescribeLimitS = 300;  ///< importing torch from a cold network file system takes minutes

Result<std::string> interpreter(const std::string& named) {
  auto found = base::find_program(named.empty() ? "python3" : named);
  if (found.empty())
    return base::fail(ErrorCode::not_found, "no Python interpreter {}", named.empty() ? "python3 in PATH" : named)
        .hint("name one that has torch with --python-exe");
  return found;
}

/// `forked`: by the server that there may be, which is worth its wait for what imports torch.
JsonChildOptions child_of(const std::string& python, const std::string& package_folder, bool forked = true) {
  JsonChildOptions options;
  if (forked) options.command = fork_relay(python);
  options.command.insert(options.command.end(), {python, "-m", "ridgeline_infer"});
  auto path = package_folder;
  if (const char* set = std::getenv("PYTHONPATH"); set != nullptr && *set != '\0') path += ":" + std::string(set);
  options.environment = {{"PYTHONPATH", path}, {"PYTHONUNBUFFERED", "1"}};
  options.what = "the Python process";
  return options;
}

/// One question to a process of its own; whatever goes wrong is for the user to fix.
Result<Json> asked(JsonChildOptions options, const Json& request) {
  JsonChild child(std::move(options));
  auto answer = child.ask(request, kDescribeLimitS);
  if (!answer) {
    auto error = std::move(answer).error().error;
    if (error.code == ErrorCode::internal) error.code = ErrorCode::invalid_argument;
    return tl::unexpected<base::Error>(std::move(error));
  }
  child.close();
  return std::move(*answer);
}

/// "2.11.0" of "2.11.0+cu130".
std::string plain_version(const std::string& version) { return version.substr(0, version.find('+')); }

schema::TensorDescription tensor_of(const Json& described) {
  schema::TensorDescription tensor;
  tensor.name = described.value("name", "");
  tensor.element_type = described.value("element_type", "");
  tensor.dims = described.value("dims", std::vector<std::int64_t>());
  tensor.dim_names.resize(tensor.dims.size());
  return tensor;
}

/// The first dimension of all input tensors in all sets, scalars aside; unset where they differ.
std::optional<std::int64_t> rows_of(const std::vector<schema::ShapeSet>& sets) {
  std::optional<std::int64_t> rows;
  for (const auto& set : sets)
    for (const auto& shape : set) {
      if (shape.dims.empty()) continue;
      if (shape.dims[0] < 1 || (rows && *rows != shape.dims[0])) return std::nullopt;
      rows = shape.dims[0];
    }
  return rows;
}

Result<schema::ModelDescription> describe(const std::string& package_folder, const workload::InspectRequest& request) {
  const auto& target = request.workload.location;
  const auto colon = target.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == target.size())
    return base::fail(ErrorCode::invalid_argument, "--python {}: expected FILE.py:FUNCTION or MODULE:FUNCTION", target)
        .hint("for example: ridgeline tune --python infer.py:make");
  RL_TRY_ASSIGN(const auto python, interpreter(request.runtime_library));
  auto answer = asked(child_of(python, package_folder), {{"op", "describe"}, {"target", target}});
  if (!answer) return tl::unexpected(std::move(answer).error().in("--python " + target));
  schema::ModelDescription model;
  model.path = target;
  // One file may have several functions, each with a model of its own.
  model.sha256 = base::sha256_hex(answer->value("source_sha256", "") + target.substr(colon));
  model.producer = "torch " + answer->value("torch", "");
  const bool on_gpu = answer->value("device", "cpu").rfind("cuda", 0) == 0;
  for (const auto& row : schema::torch_providers())
    if (row.on_gpu() == on_gpu) model.provider = row.id;
  model.parameters = answer->value("parameters", std::int64_t{0});
  model.parameter_bytes = answer->value("parameter_bytes", std::int64_t{0});
  for (const auto& set : answer->value("sets", Json::array())) {
    schema::ShapeSet shapes;
    for (const auto& input : set) {
      auto tensor = tensor_of(input);
      shapes.push_back({tensor.name, tensor.dims});
      if (model.shapes.empty()) model.inputs.push_back(std::move(tensor));
    }
    model.shapes.push_back(std::move(shapes));
  }
  model.batch_axis_size = rows_of(model.shapes);
  model.batch_is_dynamic = model.batch_axis_size.has_value();
  for (const auto& output : answer->value("outputs", Json::array())) model.outputs.push_back(tensor_of(output));
  model.parameter_types = answer->value("parameter_types", std::map<std::string, std::int64_t>());
  if (const auto known = answer->find("four_dimensional"); known != answer->end() && known->is_boolean())
    model.four_dimensional = known->get<bool>();
  model.notes = answer->value("notes", std::vector<schema::Message>());
  if (const auto form = answer->find("form"); form != answer->end()) {
    RL_TRY_ASSIGN(model.python_form, base::json_as<schema::PythonForm>(*form, "the description of " + target));
  }
  return model;
}

Result<schema::RuntimeIdentity> probe(const std::string& package_folder, const std::string& library) {
  RL_TRY_ASSIGN(const auto python, interpreter(library));
  RL_TRY_ASSIGN(const auto answer, asked(child_of(python, package_folder, false), {{"op", "runtime"}}));
  schema::RuntimeIdentity identity;
  identity.name = "torch";
  identity.version = plain_version(answer.value("torch", ""));
  identity.library_path = python;
  identity.library_sha256 =
      base::sha256_hex(fmt::format("torch {} python {}", answer.value("torch", ""), answer.value("python", "")));
  for (const auto& row : schema::torch_providers())
    if (row.on_cpu() || answer.value("cuda", false)) identity.providers.push_back(row.library_name);
  return identity;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const auto equals = variable.find('=');
    if (equals != std::string_view::npos) all.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return all;
}

JsonChildOptions trial_child(const std::string& package_folder, const schema::TrialSpec& spec) {
  auto child = child_of(spec.runtime.library_path, package_folder);
  for (auto& variable : torch_cache_environment(spec)) child.environment.push_back(std::move(variable));
  return child;
}

workload::AheadStates prepare_ahead(const std::string& package_folder, const workload::AheadRequest& wanted) {
  std::vector<std::string> keys;
  auto jobs = Json::array();
  auto kept = Json::array();
  std::error_code ignored;
  const auto folder = std::filesystem::current_path(ignored).string();
  for (const auto& spec : wanted.specs) {
    const auto request = prepare_request(spec);
    keys.push_back(request ? ahead_key(*request) : "");
    if (!request) continue;  // its trial says what is wrong
    auto environment = own_environment();
    for (auto& [name, value] : trial_child(package_folder, spec).environment) environment[name] = value;
    jobs.push_back({{"key", keys.back()}, {"folder", folder}, {"environment", environment}, {"request", *request}});
  }
  for (const auto& spec : wanted.kept)
    if (const auto request = prepare_request(spec)) kept.push_back(ahead_key(*request));
  for (const auto& program : wanted.programs) {
    auto environment = own_environment();
    for (const auto& [name, value] : program.environment) environment[name] = value;
    jobs.push_back(
        {{"key", program.path}, {"folder", folder}, {"environment", environment}, {"program", program.path}});
    keys.push_back(program.path);
  }
  const auto states =
      ask_fork_server({{"op", "ahead"}, {"jobs", std::move(jobs)}, {"kept", std::move(kept)}, {"most", wanted.most}});
  if (!states || !states->is_object()) return {};
  workload::AheadStates out;
  for (const auto& key : keys) out.states.push_back(states->value(key, ""));
  return out;
}

}  // namespace

workload::WorkloadKind make_python_kind(std::string package_folder) {
  workload::WorkloadKind kind;
  kind.name = workload::kPythonKind;
  kind.inspect = [package_folder](const workload::InspectRequest& request) {
    return describe(package_folder, request);
  };
  kind.find = [](const schema::RuntimeRequest& request) {
    schema::RuntimeSearch search;
    schema::FoundRuntime runtime;
    const auto python = interpreter(request.library);
    runtime.library_path = python ? *python : request.library;
    runtime.place = schema::messages::place_interpreter(request.library);
    runtime.named = runtime.pinned = !request.library.empty();
    if (!python) runtime.problem = schema::messages::reported_error({.words = python.error().message});
    search.runtimes.push_back(std::move(runtime));
    search.looked_in.push_back(schema::messages::place_interpreter({}));
    return search;
  };
  kind.probe = [package_folder](const std::string& library, const std::vector<schema::PluginLibrary>& /*plugins*/) {
    return probe(package_folder, library);
  };
  kind.make = [package_folder](const schema::TrialSpec& spec) -> Result<std::unique_ptr<workload::Workload>> {
    return std::make_unique<PythonWorkload>(trial_child(package_folder, spec), spec);
  };
  kind.prepare_ahead = [package_folder](const workload::AheadRequest& request) {
    return prepare_ahead(package_folder, request);
  };
  kind.export_models = [package_folder](const schema::WorkloadRef& workload, const std::string& library,
                                        const std::string& folder, const std::vector<std::string>& precisions,
                                        double limit_s) {
    return export_models(child_of(library, package_folder), workload, folder, precisions, limit_s);
  };
  kind.reference = {{"grad_mode", "no_grad"}};
  kind.gpu_reference = {{"allow_tf32", false}, {"grad_mode", "no_grad"}};
  return kind;
}

}  // namespace ridgeline::execute
