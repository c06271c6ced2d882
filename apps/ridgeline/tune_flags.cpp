// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/tune_flags.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "campaign/tune/tune_effort.hpp"
#include "config/provider_patch.hpp"
#include "config/space_file.hpp"
#include "ridgeline/common_request.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/input_flags.hpp"
#include "ridgeline/parse_mistake.hpp"
#include "ridgeline/workloads.hpp"
#include "schema/catalog.hpp"
#include "schema/suggestion.hpp"
#include "schema/workload_name.hpp"
#include "search/named_space.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr const char* kPythonKind = "python";

/// Several --shape for one input are a mix; an input given once is the same in every member of the mix.
Result<std::vector<schema::ShapeSet>> read_shapes(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::vector<std::vector<std::int64_t>>>> inputs;
  const auto is_shape = [](const std::string& text) {
    const auto pair = name_and_rest(text, "--shape", "");
    return pair && pair->second.find_first_not_of("0123456789x") == std::string::npos;
  };
  for (const auto& text : list_values(texts, is_shape)) {
    RL_TRY_ASSIGN(const auto pair, name_and_rest(text, "--shape", "images:1x3x640x640"));
    std::vector<std::int64_t> dims;
    for (const auto& part : base::split(pair.second, 'x')) {
      auto dim = base::parse_integer(part, "--shape");
      if (!dim || *dim < 1 || *dim > 1'000'000'000)
        return fail(ErrorCode::invalid_argument, "--shape {}: \"{}\" is not a size from 1 to 1000000000", text, part)
            .hint("for example --shape {}:1x3x640x640", pair.first);
      dims.push_back(*dim);
    }
    const auto known =
        std::find_if(inputs.begin(), inputs.end(), [&](const auto& input) { return input.first == pair.first; });
    if (known == inputs.end())
      inputs.push_back({pair.first, {dims}});
    else
      known->second.push_back(dims);
  }
  std::size_t members = 0;
  for (const auto& [name, shapes] : inputs) members = std::max(members, shapes.size());
  std::vector<schema::ShapeSet> sets(members);
  for (const auto& [name, shapes] : inputs) {
    if (shapes.size() != 1 && shapes.size() != members)
      return fail(ErrorCode::invalid_argument,
                  "--shape {}: given {} times, another input {} times; expected once or the same number of times", name,
                  shapes.size(), members);
    for (std::size_t i = 0; i < members; ++i) sets[i].push_back({name, shapes[shapes.size() == 1 ? 0 : i]});
  }
  return sets;
}

Result<void> read_batch(const TuneFlags& flags, schema::Objective objective, search::SpaceRequest& space) {
  if (flags.batch.empty()) return {};
  std::vector<schema::Value> values;
  for (const auto& part : base::split(flags.batch, ',')) {
    if (base::trim(part).empty())
      return fail(ErrorCode::invalid_argument, "--batch {}: a number is missing", flags.batch)
          .hint("for example --batch 1,4,8");
    RL_TRY_ASSIGN(const auto value, whole_number(std::string(base::trim(part)), "--batch", 1, 65536));
    values.emplace_back(value);
  }
  // Upwards, as running out of memory ends a sweep of batches.
  const auto by_size = [](const auto& a, const auto& b) { return a.as_integer() < b.as_integer(); };
  std::sort(values.begin(), values.end(), by_size);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (const auto* pinned = space.fixed.find("batch_size");
      pinned != nullptr && (values.size() > 1 || *pinned != values[0]))
    return fail(ErrorCode::invalid_argument, "--batch {}: batch_size is pinned to {} already", flags.batch,
                pinned->to_text())
        .hint("leave out one of the two");
  space.asked_by["batch_size"] = "--batch " + flags.batch;
  if (values.size() == 1) {
    space.fixed.set("batch_size", values.front());
    return {};
  }
  if (objective != schema::Objective::throughput)
    return fail(ErrorCode::invalid_argument, "--batch {}: several batch sizes can only be ranked by throughput",
                flags.batch)
        .hint("add --objective throughput, or give one");
  space.values.push_back({"batch_size", values});
  return {};
}

Result<void> read_named_or_written_space(const TuneFlags& flags, campaign::TuneRequest& request,
                                         config::PatchOptions& patch) {
  const auto names = search::named_spaces();
  if (std::find(names.begin(), names.end(), flags.space) != names.end()) {
    request.space.named = flags.space;
    // A named space stands for all its combinations, so that its answers can be compared.
    if (flags.search == "adaptive") request.search = "grid";
    return {};
  }
  auto text = base::read_file(flags.space);
  if (!text && flags.space.find_first_of("./") == std::string::npos)
    return fail(ErrorCode::invalid_argument,
                "--space {}: no such file and no space of that name; expected FILE.yaml or one of: {}", flags.space,
                fmt::join(names, ", "))
        .hint("{}", schema::suggest(flags.space, names));
  if (!text)
    return fail(text.error().code, "--space {}: {}; expected a YAML file, or one of: {}", flags.space,
                text.error().message, fmt::join(names, ", "));
  RL_TRY_ASSIGN(auto file, config::parse_space_file(*text, flags.space));
  request.space = std::move(file.request);
  request.space.file = flags.space;
  patch.mapping = std::move(file.mapping);
  return {};
}

Result<void> read_space(const TuneFlags& flags, campaign::TuneRequest& request, config::PatchOptions& patch) {
  if (!flags.space.empty()) RL_TRY(read_named_or_written_space(flags, request, patch));
  const auto is_setting = [](const std::string& text) {
    return schema::find_param(text.substr(0, text.find('='))) != nullptr;
  };
  for (const auto& text : list_values(flags.set, is_setting)) {
    RL_TRY_ASSIGN(auto setting, schema::parse_setting(text));
    if (request.space.fixed.contains(setting.first) && *request.space.fixed.find(setting.first) != setting.second)
      return fail(ErrorCode::invalid_argument, "--set {}: {} is already fixed to {}", text, setting.first,
                  request.space.fixed.find(setting.first)->to_text())
          .hint("give one value");
    request.space.asked_by[setting.first] = "--set " + text;
    request.space.fixed.set(std::move(setting.first), std::move(setting.second));
  }
  return {};
}

Result<void> read_current(const TuneFlags& flags, campaign::TuneRequest& request, const config::PatchOptions& patch) {
  if (flags.write.config.empty()) return {};
  if (flags.write.writes() || asks_to_write(flags.write)) RL_TRY(config::check_patchable(flags.write.config));
  RL_TRY_ASSIGN(const auto text, base::read_file(flags.write.config));
  RL_TRY_ASSIGN(const auto found, config::read_settings(text, flags.write.config, patch, &request.unread));
  for (const auto& setting : found) {
    request.current.set(setting.key, setting.value);
    request.current_origins[setting.key] =
        fmt::format("{}:{} {} = {}", flags.write.config, setting.line, setting.path, setting.value.to_text());
  }
  RL_TRY_ASSIGN(const auto provider, config::find_provider_name(text, flags.write.config));
  if (provider) request.file_provider = provider->name;
  return {};
}

Result<std::string> model_of(const TuneFlags& flags) {
  if (!flags.model.empty() && !flags.model_option.empty() && flags.model != flags.model_option)
    return fail(ErrorCode::invalid_argument, "two models given: {} and --model {}", flags.model, flags.model_option)
        .hint("give one");
  const auto& model = flags.model.empty() ? flags.model_option : flags.model;
  if (!flags.python.empty() && !model.empty())
    return fail(ErrorCode::invalid_argument, "two models given: {} and --python {}", model, flags.python)
        .hint("give one");
  if (!flags.python.empty()) return flags.python;
  if (!flags.python_exe.empty())
    return fail(ErrorCode::invalid_argument, "--python-exe {}: only --python FILE.py:FUNCTION runs an interpreter",
                flags.python_exe)
        .hint("leave it out");
  if (model.empty())
    return fail(ErrorCode::invalid_argument, "no model given").hint("give one, for example: ridgeline tune model.onnx");
  const auto ending = std::filesystem::path(model).extension();
  if (ending != ".onnx" && ending != ".ort" && ending != ".h5" && model.rfind("synthetic", 0) != 0)
    if (const auto instead = commands_for_file(model); !instead.empty())
      return fail(ErrorCode::invalid_argument, "{}: not an ONNX file by its name; expected an ONNX file", model)
          .hint("{}", instead);
  return model;
}

schema::WorkloadRef python_workload(const std::string& target) {
  schema::WorkloadRef workload;
  workload.kind = kPythonKind;
  workload.location = target;
  return workload;
}

/// What the function decides: inputs, their shapes and the device.
Result<void> check_for_python(const TuneFlags& flags) {
  const auto refuse = [&](std::string_view given, std::string_view why) {
    return fail(ErrorCode::invalid_argument, "{}: {} {}", given, flags.python, why).hint("leave it out");
  };
  if (!flags.shapes.empty()) return refuse("--shape " + flags.shapes.front(), "returns its inputs");
  if (!flags.inputs.empty()) return refuse("--input " + flags.inputs.front(), "returns its inputs");
  if (const auto text = flags.where.text(); !text.empty() && flags.also.empty())
    return fail(ErrorCode::invalid_argument, "{}: {} runs in PyTorch, not in ONNX Runtime", text, flags.python)
        .hint("leave it out, or add --also onnx");
  if (!flags.where.library.empty())
    return refuse("--ort-library " + flags.where.library, "runs in PyTorch; use --runtime to add an ONNX Runtime");
  if (!flags.provider.empty()) return refuse("--provider " + flags.provider, "decides on which device its model is");
  return {};
}

Result<void> read_precision(const TuneFlags& flags, campaign::TuneRequest& request) {
  const auto refuse = [](std::string given, std::string_view why) {
    return fail(ErrorCode::invalid_argument, "{}: {}", given, why).hint("leave it out");
  };
  const auto precision = "--precision " + flags.precision;
  const auto loss = flags.metric_loss ? "--metric-loss " + share_text(*flags.metric_loss) : "";
  if (flags.python.empty()) {
    if (!flags.precision.empty()) return refuse(precision, "only for PyTorch models (--python)");
    if (flags.metric_loss) return refuse(loss, "only for PyTorch models (--python)");
    return {};
  }
  if (flags.metric_loss && !request.check_accuracy) return refuse(loss, "--accuracy-tolerance off checks nothing");
  if (request.accuracy_tolerance && !flags.precision.empty() && flags.precision != "fp32")
    return refuse("--accuracy-tolerance " + flags.accuracy_tolerance,
                  "with " + precision + " outputs are judged by their cosine similarity, or by the model's metric");
  request.precision = flags.precision.empty() ? "fp32" : flags.precision;
  request.metric_loss = flags.metric_loss;
  return {};
}

Result<void> check_export(const TuneFlags& flags) {
  if (!flags.also.empty() && flags.python.empty())
    return fail(ErrorCode::invalid_argument, "--also {}: only a PyTorch model (--python) is exported", flags.also)
        .hint("leave it out; --provider auto compares every runtime and provider for an ONNX file");
  if (!flags.also.empty() && !flags.batch.empty())
    return fail(ErrorCode::invalid_argument, "--batch {}: an exported model has the batch of the function's inputs",
                flags.batch)
        .hint("leave out --batch or --also, or let the function return larger inputs");
  if (!flags.save_onnx.empty() && flags.also.empty())
    return fail(ErrorCode::invalid_argument, "--save-onnx {}: nothing is exported", flags.save_onnx)
        .hint("add --python FILE.py:FUNCTION --also onnx");
  const auto folder = std::filesystem::path(flags.save_onnx).parent_path();
  if (std::error_code error; !folder.empty() && !std::filesystem::is_directory(folder, error))
    return fail(ErrorCode::not_found, "--save-onnx {}: no folder {}", flags.save_onnx, folder.string())
        .hint("create it, or choose another file");
  return {};
}

}  // namespace

Result<TunePlan> read_tune_flags(const TuneFlags& flags, const Context& context) {
  TunePlan plan;
  auto& request = plan.request;
  RL_TRY_ASSIGN(const auto model, model_of(flags));
  request.workload = flags.python.empty() ? schema::workload_named(model) : python_workload(model);
  request.workload.seed = request.seed = flags.seed;
  RL_TRY_ASSIGN(request.workload.shapes, read_shapes(flags.shapes));
  RL_TRY(read_input_flags(flags.inputs, request.workload));
  if (request.workload.kind == "synthetic" && !(flags.inputs.empty() && flags.where.text().empty()))
    return fail(ErrorCode::invalid_argument, "{}: {} is simulated and does not use it",
                flags.inputs.empty() ? flags.where.text() : "--input " + flags.inputs.front(), model)
        .hint("leave it out, or give an ONNX file");
  if (request.workload.kind == kPythonKind) RL_TRY(check_for_python(flags));
  request.provider = flags.provider;
  request.tensor_location = flags.tensor_location;
  if (flags.python.empty() && request.tensor_location.empty()) request.tensor_location = "host";
  RL_TRY(check_export(flags));
  request.also = flags.also;
  request.save_onnx = flags.save_onnx;
  RL_TRY_ASSIGN(auto where, read_runtime_flags(flags.where));
  request.ort_library = flags.python.empty() ? std::move(where.library) : flags.python_exe;
  request.runtimes = std::move(where.runtimes);
  request.plugins = std::move(where.plugins);
  request.search = flags.quick && flags.search == "adaptive" ? "quick" : flags.search;
  request.objective = *base::enum_from_name<schema::Objective>(flags.objective);
  const auto is_constraint = [](const std::string& text) { return schema::parse_constraint(text).has_value(); };
  for (const auto& text : list_values(flags.constraints, is_constraint)) {
    RL_TRY_ASSIGN(auto constraint, schema::parse_constraint(text));
    request.constraints.push_back(std::move(constraint));
  }
  if (flags.max_time_s) request.max_time = base::from_seconds(*flags.max_time_s);
  request.min_effect = flags.min_effect;
  if (flags.accuracy_tolerance == "off") {
    request.check_accuracy = false;
  } else if (!flags.accuracy_tolerance.empty()) {
    const auto tolerance = base::parse_number(flags.accuracy_tolerance, "--accuracy-tolerance");
    if (!tolerance || *tolerance <= 0)
      return fail(ErrorCode::invalid_argument,
                  "--accuracy-tolerance {}: expected a number above 0 (scaled error, for example 1e-3) or off",
                  flags.accuracy_tolerance);
    request.accuracy_tolerance = *tolerance;
  }
  RL_TRY(read_precision(flags, request));
  if (flags.trials) request.random_budget = static_cast<std::size_t>(*flags.trials);
  if (flags.trials && request.search != "random")
    return fail(ErrorCode::invalid_argument, "--trials {}: only valid with --search random, but the search is {}",
                *flags.trials, request.search)
        .hint("add --search random, or limit the time with --max-time");
  RL_TRY(check_write_flags(flags.write));
  if (flags.no_comparisons && (flags.quick || flags.write.concerns_file()))
    return fail(ErrorCode::invalid_argument, "--no-comparisons: {} needs a recommendation, and there would be none",
                flags.quick         ? "--quick"
                : flags.write.apply ? "--apply"
                                    : "--dry-run")
        .hint("leave one of them out");
  RL_TRY(campaign::plan_effort({flags.quick, flags.warmup, flags.runs, flags.trial_time_s}, request));
  plan.patch.section_named = !flags.config_section.empty();
  if (plan.patch.section_named)
    plan.patch.section = flags.config_section;
  else if (!flags.python.empty())
    plan.patch.section = "torch";
  RL_TRY(read_space(flags, request, plan.patch));
  RL_TRY(read_batch(flags, request.objective, request.space));
  if (request.space.only_listed && request.space.values.empty() && request.space.fixed.empty())
    return fail(ErrorCode::invalid_argument,
                "--space {}: only_listed is true, but no values are listed: nothing would be searched", flags.space)
        .hint("list some under parameters or fixed, or leave only_listed out");
  RL_TRY(read_current(flags, request, plan.patch));
  if (plan.patch.section_named) plan.later += " --config-section " + flags.config_section;
  if (!plan.patch.mapping.empty()) plan.later += " --space " + flags.space;
  if (!context.database.empty()) plan.later += " --db " + context.database;
  request.leave_one_out = !flags.no_ablation && !flags.no_comparisons;
  if (flags.no_comparisons) request.finalists = 0;
  read_common(flags, flags.devices, context, request);
  request.reference_folder = base::cache_folder() / "references";
  request.ceilings_folder = base::cache_folder() / "gpu_ceilings";
  const auto registry = known_workloads();
  RL_TRY_ASSIGN(const auto* kind, registry.find(request.workload.kind));
  request.reference = kind->reference;
  request.gpu_reference = kind->gpu_reference;
  plan.isolation = flags.isolation == "trial" ? execute::Isolation::trial : execute::Isolation::pooled;
  return plan;
}

}  // namespace ridgeline::app
