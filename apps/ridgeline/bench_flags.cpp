// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/bench_flags.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "analysis/bench_experiments.hpp"
#include "analysis/messages.hpp"
#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "campaign/bench/bench_defaults.hpp"
#include "campaign/bench/training_change.hpp"
#include "campaign/messages.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/local_environment.hpp"
#include "loader/linked_files.hpp"
#include "loader/page_cache.hpp"
#include "ridgeline/apply_changes.hpp"
#include "ridgeline/bench_effort.hpp"
#include "ridgeline/bench_runners.hpp"
#include "ridgeline/bench_script.hpp"
#include "ridgeline/common_request.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/lever_flags.hpp"
#include "ridgeline/script_plan.hpp"
#include "ridgeline/training_python.hpp"
#include "ridgeline/waiting_line.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"
#include "schema/error_message.hpp"
#include "schema/run_request.hpp"
#include "workload/training/plugin_library.hpp"
#include "workload/training/synthetic_step_options.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using schema::AmpMode;
using schema::Message;

constexpr std::string_view kNative = "native";

/// "1 2 4", "1,2,4" or both, ascending and without repeats.
Result<std::vector<std::int64_t>> whole_list(const std::vector<std::string>& texts, std::string_view flag,
                                             std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> out;
  for (const auto& text : texts)
    for (const auto& part : base::split(text, ',')) {
      RL_TRY_ASSIGN(const auto value, whole_number(std::string(base::trim(part)), flag, low, high));
      out.push_back(value);
    }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

template <typename T>
std::string listed(const std::vector<T>& values) {
  return fmt::format("{}", fmt::join(values, " "));
}

class BenchReader {
 public:
  BenchReader(const BenchFlags& flags, const Context& context)
      : flags_(flags), context_(context), waiting_(inspect_terminal(stderr), !flags.quiet) {
    terms_.waiting = [this](const std::string& doing, double waited_s) { waiting_.show(doing, waited_s); };
  }

  Result<BenchPlan> read() {
    RL_TRY(check_write_flags(flags_.write));
    read_deadline();
    RL_TRY(read_config());
    RL_TRY(read_job());
    RL_TRY(read_data());
    if (plan_.request.job.kind == kNative) RL_TRY(read_native());
    RL_TRY(read_device());
    RL_TRY(read_memory_limit(flags_, may_have_levers(flags_, context_),
                             plan_.gpus.empty() ? 0.0 : static_cast<double>(plan_.gpus.front().memory_bytes),
                             plan_.request));
    RL_TRY(read_space());
    RL_TRY(read_current());
    read_numbers();
    read_effort(flags_, plan_.request);
    RL_TRY(read_tried_levers(flags_, may_have_levers(flags_, context_), plan_.request));
    read_common(flags_, flags_.devices, context_, plan_.request);
    const auto& write = flags_.write;
    if (write.concerns_file()) {
      RL_TRY_ASSIGN(const auto text, read_apply_file(write.file(), !write.writes(), kNoTrainingFile));
      // Whether the file can be changed at all is found out now and not after an hour of measuring.
      RL_TRY(campaign::patch_training_file(text, write.file(), schema::TrainingSettings{}));
    }
    return std::move(plan_);
  }

 private:
  void note(std::string name, std::string value, Message origin) {
    plan_.request.origins.push_back({std::move(name), std::move(value), std::move(origin)});
  }
  /// "bench.yaml:3" when the file sets the key.
  Message place(const std::string& key) const {
    const auto line = plan_.config.lines.find(key);
    return campaign::messages::origin_line(
        {.file = flags_.write.config, .line = line == plan_.config.lines.end() ? 0 : line->second});
  }

  /// Data alone are trained with the built-in model.
  [[nodiscard]] std::string default_model() const {
    return flags_.data_path.empty() && !plan_.config.data_path ? "" : campaign::kDefaultModel;
  }
  void use_default_model() {
    std::string size;
    for (const auto& [name, value] : campaign::kDefaultModelOptions) {
      plan_.request.job.options[name] = value;
      if (!typed(name)) size += fmt::format(", {} {}", name, value);
    }
    note("model", model_ + size, campaign::messages::origin_built_in());
  }

  void read_deadline() {
    plan_.begun = base::system_clock().now();
    if (!flags_.max_time_s) return;
    const double limit_s = *flags_.max_time_s;
    const double grace_s = campaign::grace_s(limit_s);
    plan_.deadline = {plan_.begun + base::from_seconds(limit_s + grace_s),
                      fmt::format("--max-time {} and {:.3g} s of grace were over", time_text(limit_s), grace_s)};
    // Without the grace: what is asked before the first trial leaves no time for one.
    terms_.deadline = {plan_.begun + base::from_seconds(limit_s),
                       fmt::format("--max-time {} was over", time_text(limit_s))};
  }

  [[nodiscard]] bool is_synthetic() const { return model_ == kSynthetic || model_.rfind("synthetic:", 0) == 0; }

  Result<void> read_config() {
    const auto& file = flags_.write.config;
    if (file.empty()) return {};
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored))
      return fail(ErrorCode::not_found, "--config {}: no such file; expected your training's YAML file", file)
          .hint("see docs/bench.md");
    RL_TRY_ASSIGN(const auto text, base::read_file(file));
    RL_TRY_ASSIGN(plan_.config, campaign::parse_bench_config(text, file));
    for (const auto& [key, reason] : plan_.config.not_read)
      note("not read", fmt::format("{}: {}", key, reason), place(key));
    if (const auto& keys = plan_.config.not_taken; !keys.empty()) {
      std::vector<std::string> texts;
      std::vector<double> lines;
      for (const auto& [line, key] : keys) {
        texts.push_back(key);
        lines.push_back(line);
      }
      note("not taken", fmt::format("{}", fmt::join(texts, "; ")),
           campaign::messages::origin_lines({.file = file, .lines = lines}));
    }
    return {};
  }

  Result<void> read_job() {
    auto& job = plan_.request.job;
    RL_TRY(read_set_levers(flags_, may_have_levers(flags_, context_), plan_.request));
    if (context_.program && flags_.python.empty()) return read_script();
    if (!flags_.workdir.empty())
      return fail(ErrorCode::invalid_argument, "--workdir {}: only for a script", flags_.workdir)
          .hint("give one after --, for example: -- python train.py");
    if (!flags_.model.empty() && !flags_.python.empty())
      return fail(ErrorCode::invalid_argument, "--model {} and --python {} are two training steps", flags_.model,
                  flags_.python)
          .hint("give one");
    if (flags_.model.empty() && flags_.python.empty()) model_ = default_model();
    if (model_.empty() && flags_.python.empty())
      return fail(ErrorCode::invalid_argument, "no training step given")
          .hint(
              "give one, for example: ridgeline bench -- python train.py, --python train:make, --model resnet18, or "
              "--model synthetic to try it out");
    if (!flags_.model.empty()) note("model", flags_.model, campaign::messages::origin_flag("--model"));
    if (flags_.model.empty() && !model_.empty()) use_default_model();
    if (!flags_.python.empty()) note("training step", flags_.python, campaign::messages::origin_flag("--python"));
    if (!flags_.interpreter.empty() && is_synthetic())
      return fail(ErrorCode::invalid_argument, "--python-exe {}: only valid with --python or a built-in model",
                  flags_.interpreter)
          .hint("leave it out");
    if (!flags_.interpreter.empty() && !flags_.torch_plugin.empty())
      return fail(ErrorCode::invalid_argument, "--python-exe {} and --torch-plugin {} are two ways to train the model",
                  flags_.interpreter, flags_.torch_plugin)
          .hint("give one");
    if (!flags_.torch_plugin.empty() && (!flags_.python.empty() || is_synthetic()))
      return fail(ErrorCode::invalid_argument,
                  "--torch-plugin {}: only valid with a built-in model or a TorchScript file in --model",
                  flags_.torch_plugin)
          .hint("leave it out");
    job.seed = flags_.seed.value_or(job.seed);
    note("seed", fmt::format("{}", job.seed), flag_or_default(flags_.seed.has_value(), "--seed"));
    RL_TRY(read_options());
    if (!flags_.python.empty()) return read_python();
    if (is_synthetic()) {
      job.kind = "synthetic";
      job.target = model_ == kSynthetic ? "" : model_.substr(kSynthetic.size() + 1);
      job.target_sha256 = base::sha256_hex(job.target);
      RL_TRY_ASSIGN(const auto options, workload::parse_step_options(job.target));
      plan_.request.cores = options.cores;
      return {};
    }
    job.kind = kNative;
    job.target = model_;
    return {};
  }

  Result<void> read_options() {
    for (const auto& text : flags_.options) {
      const auto equals = text.find('=');
      if (equals == std::string::npos || equals == 0)
        return fail(ErrorCode::invalid_argument, "--option {}: expected NAME=VALUE", text)
            .hint("for example --option depth=3");
      plan_.request.job.options[text.substr(0, equals)] = text.substr(equals + 1);
      note("option", text, campaign::messages::origin_flag("--option"));
    }
    return {};
  }

  Result<void> read_script() {
    RL_TRY(read_options());
    RL_TRY_ASSIGN(script_, plan_script(flags_, context_, terms_, plan_));
    waiting_.show("", 0);
    cuda_ = script_->cuda && !schema::is_cpu_device(script_->device);
    samples_ = script_->samples;
    return {};
  }

  /// Why the script's value is the only one that can be measured; nullptr: others can.
  [[nodiscard]] const std::string* why_fixed(const std::string& setting) const {
    if (!script_) return nullptr;
    const auto found = script_->fixed.find(setting);
    return found == script_->fixed.end() ? nullptr : &found->second;
  }
  /// Built-in models are trained by the LibTorch plugin if there is one, else in Python. Gives the reason.
  Result<Message> choose_trainer() {
    if (flags_.interpreter.empty()) {
      const auto plugins = workload::find_torch_plugins(flags_.torch_plugin);
      if (plugins) RL_TRY(refuse_levers_in_plugin(flags_));
      if (plugins)
        return flags_.torch_plugin.empty() ? campaign::messages::origin_found()
                                           : campaign::messages::origin_flag("--torch-plugin");
      if (plugins.error().code != ErrorCode::unavailable) return tl::unexpected<base::Error>(plugins.error());
    }
    auto& job = plan_.request.job;
    RL_TRY_ASSIGN(job.python, find_training_python(flags_.interpreter, !job.data_path.empty(), terms_));
    return flags_.interpreter.empty() ? campaign::messages::origin_no_plugin()
                                      : campaign::messages::origin_flag("--python-exe");
  }

  /// Processes of their own are asked: a mistake in model, options or data ends here.
  Result<void> read_native() {
    auto& job = plan_.request.job;
    RL_TRY_ASSIGN(const auto why, choose_trainer());
    const auto facts = describe_native_job(job, flags_.torch_plugin, terms_);
    if (!facts) {
      auto error = facts.error();
      // Another model would not help a data file that cannot be used.
      if (flags_.model.empty() && error.code == ErrorCode::invalid_argument && check_training_data(job, terms_))
        error.hint = "use another built-in model; --model mlp takes any sample";
      return tl::unexpected<base::Error>(std::move(error));
    }
    const auto& found = *facts;
    job.runtime = found.runtime;
    job.target_sha256 = found.target_sha256;
    cuda_ = found.cuda;
    plan_.request.refused_levers = found.refused_levers;
    note("trained by", found.trainer, why);
    for (const auto& [name, value] : found.data.options) {
      job.options[name] = value;
      if (!typed(name)) note(name, value, campaign::messages::origin_data());
    }
    for (const auto& line : found.data.notes) note("reading", line, campaign::messages::origin_loader());
    samples_ = found.data.samples;
    return {};
  }
  [[nodiscard]] bool typed(const std::string& option) const {
    return std::any_of(flags_.options.begin(), flags_.options.end(),
                       [&](const auto& text) { return text.rfind(option + "=", 0) == 0; });
  }

  Result<void> read_python() {
    auto& job = plan_.request.job;
    job.kind = "python";
    job.target = flags_.python;
    const auto colon = flags_.python.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == flags_.python.size())
      return fail(ErrorCode::invalid_argument, "--python {}: expected MODULE:FUNCTION or FILE.py:FUNCTION",
                  flags_.python)
          .hint("for example --python train:make");
    job.python = flags_.interpreter.empty() ? "python3" : flags_.interpreter;
    // The words behind -- are the command line of the function's file.
    if (context_.program && !context_.program->empty()) job.target += " -- " + schema::shell_line(*context_.program);
    RL_TRY_ASSIGN(const auto found, describe_python_job(job.python, job.target, terms_));
    job.runtime = found.runtime;
    job.target_sha256 = found.source_sha256;
    cuda_ = found.cuda;
    return {};
  }

  /// Each trial gets one GPU of the device's model, which is its only one.
  Result<void> spread_over(const std::vector<schema::GpuDescription>& gpus) {
    if (plan_.gpus.empty())
      return fail(ErrorCode::invalid_argument, "--spread: trials run on {}, not on GPUs", plan_.request.device_id)
          .hint("leave it out");
    const auto first = plan_.gpus.front();
    for (const auto& gpu : gpus)
      if (gpu.uuid != first.uuid && gpu.name == first.name && gpu.memory_bytes == first.memory_bytes)
        plan_.gpus.push_back(gpu);
    if (plan_.gpus.size() < 2)
      return fail(ErrorCode::invalid_argument, "--spread: there is only one {}", first.name).hint("leave it out");
    plan_.request.device = "cuda:0";
    return {};
  }

  Result<void> read_device() {
    auto& request = plan_.request;
    plan_.environment = execute::local_environment();
    if (request.cores <= 0) request.cores = plan_.environment.usable_cpus;
    const auto& gpus = plan_.environment.gpus;
    RL_TRY_ASSIGN(const auto device, asked_device(flags_, plan_, gpus));
    const bool synthetic = request.job.kind == kSynthetic;
    if (schema::is_cpu_device(device)) {
      request.device = device;
    } else if (script_) {
      request.device = script_->device;
    } else if (device == "auto") {
      request.device = campaign::default_device(request.job, cuda_, !gpus.empty());
    } else if (schema::is_gpu_device(device)) {
      std::int64_t index = 0;
      if (device != schema::kGpuDevice) {
        RL_TRY_ASSIGN(index, whole_number(device.substr(5), "--devices cuda:", 0, 1023));
      }
      request.device = fmt::format("cuda:{}", index);
      if (!synthetic && static_cast<std::size_t>(index) >= gpus.size())
        return fail(ErrorCode::invalid_argument, "--devices {}: this machine shows {} NVIDIA GPU{}{}", device,
                    gpus.empty() ? "no" : fmt::format("{}", gpus.size()), gpus.size() == 1 ? "" : "s",
                    plan_.environment.gpu_note.empty() ? "" : " (" + schema::own_text(plan_.environment.gpu_note) + ")")
            .hint("use --devices cpu");
    } else {
      return fail(ErrorCode::invalid_argument, "--devices {}: expected auto, cpu, cuda, or the number of one GPU",
                  device)
          .hint("{}", device == "all" || device.find(',') != std::string::npos ? "use --spread for all of them" : "");
    }
    if (synthetic) {
      request.device_id = "synthetic";
    } else if (schema::is_cpu_device(request.device)) {
      request.device_id = plan_.environment.cpu_device_id();
    } else {
      const auto index = static_cast<std::size_t>(std::stoul(request.device.substr(5)));
      // A script that sees one GPU calls it the first.
      const auto& own = plan_.child_environment;
      const auto chosen = std::find_if(gpus.begin(), gpus.end(),
                                       [&](const auto& gpu) { return !own.empty() && own.back().second == gpu.uuid; });
      if (chosen != gpus.end())
        plan_.gpus = {*chosen};
      else if (index < gpus.size())
        plan_.gpus = {gpus[index]};
    }
    if (flags_.spread) RL_TRY(spread_over(gpus));
    std::vector<std::string> uuids;
    for (const auto& gpu : plan_.gpus) uuids.push_back(gpu.uuid);
    if (!uuids.empty()) request.device_id = fmt::format("gpu:{}", fmt::join(uuids, "|"));
    note("device", request.device,
         synthetic          ? campaign::messages::origin_simulated()
         : script_          ? campaign::messages::origin_script()
         : device == "auto" ? campaign::messages::origin_found()
                            : campaign::messages::origin_flag("--devices"));
    return {};
  }

  Result<void> read_data() {
    auto& job = plan_.request.job;
    job.data_path = !flags_.data_path.empty() ? flags_.data_path : plan_.config.data_path.value_or("");
    if (job.data_path.empty()) return {};
    const auto origin =
        !flags_.data_path.empty() ? campaign::messages::origin_flag("--data-path") : place("data.data_path");
    auto data = loader::data_fingerprint(job.data_path);
    if (!data && data.error().code == ErrorCode::not_found)
      return fail(ErrorCode::not_found, "data {} ({}): no such file; expected the training data, file or folder",
                  job.data_path, words().text(origin));
    if (!data) return tl::unexpected(std::move(data).error());
    job.data_sha256 = base::sha256_hex(data->text);
    note("data", job.data_path, origin);
    std::error_code ignored;
    if (const bool folder = std::filesystem::is_directory(job.data_path, ignored); !folder && data->files > 1)
      note("linked files", fmt::format("{}", data->files - 1), campaign::messages::origin_links());
    if (!data->complete)
      note("data watched", fmt::format("{} files", data->files), campaign::messages::origin_watched());
    // Cold or warm: the first trials read from the device what is not there, later ones find it.
    if (const auto file = loader::DataFile::open(job.data_path))
      if (const auto resident = loader::resident_share(*file))
        note("page cache", fmt::format("{:.0f} % of the data file", 100 * *resident),
             campaign::messages::origin_before_reading());
    return {};
  }

  Result<void> read_space() {
    auto& space = plan_.request.space;
    RL_TRY_ASSIGN(space.batches, whole_list(flags_.batch_sizes, "--batch-sizes", 1, 1 << 24));
    auto origin = campaign::messages::origin_flag("--batch-sizes");
    if (space.batches.empty() && plan_.config.batch_sizes) {
      space.batches = *plan_.config.batch_sizes;
      origin = place("benchmark.batch_sizes");
    } else if (space.batches.empty()) {
      space.batches = script_ ? campaign::batches_around(script_->settings.batch) : campaign::default_batches();
      origin = analysis::messages::default_value();
    }
    if (const auto* reason = why_fixed("batch")) {
      RL_TRY_ASSIGN(origin, origin_fixed(*reason, !flags_.batch_sizes.empty(), "--batch-sizes"));
      space.batches = {script_->settings.batch};
    }
    RL_TRY_ASSIGN(origin, leave_out_too_large(space.batches, std::move(origin)));
    note(std::string(campaign::kBatchOrigin), listed(space.batches), origin);
    RL_TRY(read_workers());
    RL_TRY(read_amps());
    return read_pins();
  }

  /// Takes out the batches that the data file cannot fill, and says so in the origin.
  [[nodiscard]] Result<Message> leave_out_too_large(std::vector<std::int64_t>& batches, Message origin) const {
    const auto fits =
        std::upper_bound(batches.begin(), batches.end(), samples_.value_or(std::numeric_limits<std::int64_t>::max()));
    if (fits == batches.end()) return origin;
    if (fits == batches.begin())
      return fail(ErrorCode::invalid_argument, "{}{} {}: {} has {} samples, fewer than any of these batches",
                  words().text(origin), flags_.batch_sizes.empty() ? ": batch_sizes" : "", listed(batches),
                  script_ ? "the script's data set" : plan_.request.job.data_path, *samples_)
          .hint("give smaller ones");
    const std::vector<double> left_out(fits, batches.end());
    batches.erase(fits, batches.end());
    return campaign::messages::origin_left_out({.origin = origin, .batches = left_out, .samples = *samples_});
  }

  [[nodiscard]] int cores() const { return std::max(1, static_cast<int>(std::ceil(plan_.environment.usable_cpus))); }

  Result<void> read_workers() {
    auto& space = plan_.request.space;
    RL_TRY_ASSIGN(const auto typed, whole_list(flags_.num_workers, "--num-workers", 0, 1024));
    auto origin = campaign::messages::origin_flag("--num-workers");
    if (!typed.empty()) {
      space.workers.assign(typed.begin(), typed.end());
    } else if (plan_.config.num_workers_options) {
      space.workers = *plan_.config.num_workers_options;
      origin = place("benchmark.num_workers_options");
    } else {
      space.workers = campaign::default_workers(plan_.request.job, cores());
      origin = analysis::loads(plan_.request.job) ? campaign::messages::origin_default_cores()
                                                  : campaign::messages::origin_random_data();
    }
    if (const auto* reason = why_fixed("workers")) {
      RL_TRY_ASSIGN(origin, origin_fixed(*reason, !typed.empty(), "--num-workers"));
      space.workers = {script_->settings.workers};
    }
    note("workers", listed(space.workers), origin);
    plan_.request.own_workers = origin == campaign::messages::origin_default_cores();
    if (!space.workers.empty())
      note_many_workers(words().text(origin) + (typed.empty() ? ": num_workers_options" : ""), space.workers.back());
    return {};
  }

  /// More workers than CPUs are worth trying: those that wait for a disk or the network leave the CPUs to others.
  void note_many_workers(const std::string& where, int workers) {
    if (plan_.request.job.kind == kSynthetic || workers <= cores()) return;
    plan_.request.notes.push_back(
        campaign::messages::bench_many_workers({.where = where, .workers = workers, .cpus = cores()}));
  }

  Result<void> read_amps() {
    auto& request = plan_.request;
    auto& amps = request.space.amps;
    auto origin = campaign::messages::origin_flag("--amp");
    auto word = flags_.amp;
    if (word.empty() && plan_.config.test_mixed_precision) {
      word = *plan_.config.test_mixed_precision ? "both" : "off";
      origin = place("benchmark.test_mixed_precision");
    }
    if (word == "fp16" && schema::is_cpu_device(request.device))
      return fail(ErrorCode::invalid_argument, "--amp fp16: on a CPU PyTorch trains with bf16 only")
          .hint("use --amp bf16");
    if (word.empty()) {
      amps = campaign::default_amps(request.device);
      origin = analysis::messages::default_value();
    } else if (word == "both") {
      amps = {AmpMode::off, AmpMode::bf16};
    } else {
      amps = {*base::enum_from_name<AmpMode>(word)};
    }
    std::vector<std::string_view> names;
    for (const auto amp : amps) names.push_back(base::enum_name(amp));
    note("AMP", listed(names), origin);
    return {};
  }

  Result<void> read_pins() {
    auto& request = plan_.request;
    auto& pins = request.space.pins;
    auto origin = campaign::messages::origin_flag("--pin-memory");
    auto word = flags_.pin_memory;
    if (word.empty() && plan_.config.test_pin_memory) {
      word = *plan_.config.test_pin_memory ? "both" : "off";
      origin = place("benchmark.test_pin_memory");
    }
    pins = campaign::default_pins(request.device);
    if (schema::is_cpu_device(request.device) && word != "off") {
      if (!flags_.pin_memory.empty())
        return fail(ErrorCode::invalid_argument, "--pin-memory {}: pinned memory needs a GPU", word)
            .hint("leave it out with --devices cpu");
      origin = campaign::messages::origin_no_gpu();
    } else if (word.empty()) {
      origin = analysis::messages::default_value();
    } else if (word != "both") {
      pins = {word == "on"};
    }
    note("pin memory", pins.size() > 1 ? "off on" : pins.front() ? "on" : "off", origin);
    return {};
  }

  Result<void> read_current() {
    const auto& config = plan_.config;
    if (config.learning_rate)
      note(std::string(campaign::kRateOrigin), fmt::format("{}", *config.learning_rate),
           place("training.learning_rate"));
    if (config.gradient_accumulation_steps)
      note(std::string(campaign::kAccumulationOrigin), fmt::format("{}", *config.gradient_accumulation_steps),
           place("training.gradient_accumulation_steps"));
    if (script_) {
      plan_.request.current = script_->settings;
      if (script_->learning_rate)
        note(std::string(campaign::kRateOrigin), fmt::format("{}", *script_->learning_rate),
             campaign::messages::origin_script());
      note("current", schema::describe(script_->settings, plan_.request.device), campaign::messages::origin_script());
      return {};
    }
    if (!config.batch_size && !config.num_workers && !config.pin_memory && !config.use_amp) return {};
    const auto current = campaign::current_settings(config, plan_.request.device);
    if (!current) {  // no batch is known to go with them
      note("current", "not measured: data.batch_size is not given",
           campaign::messages::origin_file({.file = flags_.write.config}));
      return {};
    }
    if (samples_ && *config.batch_size > *samples_)
      return fail(ErrorCode::invalid_argument, "{}: batch_size {} is larger than {}, which has {} samples",
                  words().text(place("data.batch_size")), *config.batch_size, plan_.request.job.data_path, *samples_)
          .hint("give a smaller one");
    note_many_workers(words().text(place("data.num_workers")) + ": num_workers", current->settings.workers);
    plan_.request.current = current->settings;
    note("current", schema::describe(current->settings, plan_.request.device),
         campaign::messages::origin_file(
             {.file = flags_.write.config, .assumed = current->assumed, .unpinned = current->unpinned}));
    return {};
  }

  void read_numbers() {
    auto& request = plan_.request;
    auto& plan = request.plan;
    auto origin = analysis::messages::default_value();
    if (flags_.steps) {
      plan.steps = *flags_.steps;
      origin = campaign::messages::origin_flag("--steps");
    } else if (plan_.config.steps_per_test) {
      plan.steps = *plan_.config.steps_per_test;
      origin = place("benchmark.steps_per_test");
    }
    plan.max_steps = std::max(plan.max_steps, plan.steps);
    note("steps", fmt::format("{}", plan.steps), origin);
    request.headroom = flags_.mem_headroom.value_or(request.headroom);
    note("mem headroom", share_text(request.headroom),
         flag_or_default(flags_.mem_headroom.has_value(), "--mem-headroom"));
    request.tolerance = flags_.tolerance.value_or(request.tolerance);
    note("tolerance", share_text(request.tolerance), flag_or_default(flags_.tolerance.has_value(), "--tolerance"));
  }

  const BenchFlags& flags_;
  const Context& context_;
  WaitingLine waiting_;
  ChildTerms terms_;
  BenchPlan plan_;
  std::string model_ = flags_.model;     ///< or the built-in one
  std::optional<ScriptFacts> script_;    ///< of a script
  std::optional<std::int64_t> samples_;  ///< of the data file, where they are known beforehand
  bool cuda_ = false;                    ///< what the job runs in was built for CUDA
};

}  // namespace

Result<BenchPlan> read_bench_flags(const BenchFlags& flags, const Context& context) {
  return BenchReader(flags, context).read();
}

}  // namespace ridgeline::app
