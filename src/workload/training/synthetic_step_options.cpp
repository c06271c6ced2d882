// SPDX-License-Identifier: Apache-2.0
#include "workload/training/synthetic_step_options.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

struct Item {
  const char* name;
  double SyntheticStepOptions::*member;
};
constexpr Item kItems[] = {{"compute_us", &SyntheticStepOptions::compute_us},
                           {"fill", &SyntheticStepOptions::fill},
                           {"launch_ms", &SyntheticStepOptions::launch_ms},
                           {"optimizer_ms", &SyntheticStepOptions::optimizer_ms},
                           {"amp_gain", &SyntheticStepOptions::amp_gain},
                           {"rest_ms", &SyntheticStepOptions::rest_ms},
                           {"wait_ms", &SyntheticStepOptions::wait_ms},
                           {"read_us", &SyntheticStepOptions::read_us},
                           {"storage_rate", &SyntheticStepOptions::storage_rate},
                           {"decode_us", &SyntheticStepOptions::decode_us},
                           {"batch_us", &SyntheticStepOptions::batch_us},
                           {"cores", &SyntheticStepOptions::cores},
                           {"threads", &SyntheticStepOptions::threads},
                           {"over", &SyntheticStepOptions::over},
                           {"sample_kb", &SyntheticStepOptions::sample_kb},
                           {"pinned_gb_s", &SyntheticStepOptions::pinned_gb_s},
                           {"pageable_gb_s", &SyntheticStepOptions::pageable_gb_s},
                           {"memory_gb", &SyntheticStepOptions::memory_gb},
                           {"model_gb", &SyntheticStepOptions::model_gb},
                           {"sample_gb", &SyntheticStepOptions::sample_gb},
                           {"amp_memory", &SyntheticStepOptions::amp_memory},
                           {"thrash", &SyntheticStepOptions::thrash},
                           {"noise", &SyntheticStepOptions::noise},
                           {"drift", &SyntheticStepOptions::drift},
                           {"warmup", &SyntheticStepOptions::warmup},
                           {"startup_ms", &SyntheticStepOptions::startup_ms},
                           {"worker_ms", &SyntheticStepOptions::worker_ms},
                           {"loader_stats", &SyntheticStepOptions::loader_stats},
                           {"seed", &SyntheticStepOptions::seed}};

/// Divisors: 0 would make times without end.
constexpr const char* kPositive[] = {"cores", "pinned_gb_s", "pageable_gb_s", "memory_gb", "amp_gain"};

FailureFacts thrown(std::string type, std::vector<std::string> bases, std::string message) {
  FailureFacts facts;
  facts.type = std::move(type);
  facts.bases = std::move(bases);
  facts.message = std::move(message);
  return facts;
}

template <typename Change>
FailureFacts with(FailureFacts facts, Change change) {
  change(facts);
  return facts;
}

std::vector<std::pair<std::string, FailureFacts>> make_kinds() {
  const std::vector<std::string> runtime{"RuntimeError", "Exception"};
  const std::vector<std::string> exception{"Exception"};
  const std::string tried = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.25 GiB";
  return {
      {"oom_forward", thrown("torch.OutOfMemoryError", runtime, tried)},
      {"oom_backward", thrown("torch.cuda.OutOfMemoryError", runtime, tried)},
      {"oom_optimizer_state", thrown("OutOfMemoryError", runtime, tried)},
      {"oom_subclass",
       thrown("mylib.NoRoom", {"torch.OutOfMemoryError", "RuntimeError", "Exception"}, "no room for activations")},
      {"oom_torchscript",
       with(thrown("RuntimeError", exception, "The following operation failed in the TorchScript interpreter."),
            [](auto& facts) { facts.ooms_risen = 1; })},
      {"oom_torchscript_text",
       thrown("RuntimeError", exception, "The following operation failed in the TorchScript interpreter. " + tried)},
      {"oom_accelerator", with(thrown("torch.AcceleratorError", runtime, "CUDA error: out of memory"),
                               [](auto& facts) { facts.cuda_error = 2; })},
      {"oom_api_text",
       thrown("RuntimeError", exception, "CUDA error: out of memory; kernel errors might be reported later")},
      {"oom_pinned_host", with(thrown("RuntimeError", exception, "CUDA error: out of memory (cudaHostAlloc)"),
                               [](auto& facts) { facts.cuda_error = 2; })},
      {"oom_cublas",
       thrown("RuntimeError", exception, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")},
      {"oom_cudnn_workspace", with(thrown("RuntimeError", exception, "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED"),
                                   [](auto& facts) { facts.ooms_risen = 2; })},
      {"oom_cpu_allocator", thrown("RuntimeError", exception,
                                   "[enforce fail at alloc_cpu.cpp:75] . DefaultCPUAllocator: can't allocate memory: "
                                   "you tried to allocate 80000000000 bytes")},
      {"oom_python", thrown("MemoryError", exception, "")},
      {"oom_numpy",
       thrown("numpy.core._exceptions._ArrayMemoryError", {"MemoryError", "Exception"}, "Unable to allocate 74.5 GiB")},
      {"oom_bad_alloc", thrown("std::bad_alloc", {"std::exception"}, "std::bad_alloc")},
      {"oom_fork", thrown("OSError", exception, "[Errno 12] Cannot allocate memory")},
      {"oom_host_kill", with(FailureFacts{},
                             [](auto& facts) {
                               facts.signal = 9;
                               facts.kernel_oom_kill = true;
                             })},
      {"oom_shell_kill", with(FailureFacts{},
                              [](auto& facts) {
                                facts.exit_code = 137;
                                facts.kernel_oom_kill = true;
                              })},
      {"oom_worker_kill",
       with(thrown("RuntimeError", exception, "DataLoader worker (pid 4711) is killed by signal: Killed."),
            [](auto& facts) { facts.kernel_oom_kill = true; })},
      {"assert", with(thrown("torch.AcceleratorError", runtime, "CUDA error: device-side assert triggered"),
                      [](auto& facts) { facts.cuda_error = 710; })},
      {"assert_beside_oom", with(thrown("torch.AcceleratorError", runtime, "CUDA error: device-side assert triggered"),
                                 [](auto& facts) {
                                   facts.cuda_error = 710;
                                   facts.ooms_risen = 1;
                                 })},
      {"illegal_access", with(thrown("RuntimeError", exception, "CUDA error: an illegal memory access was encountered"),
                              [](auto& facts) { facts.cuda_error = 700; })},
      {"shape", thrown("RuntimeError", exception, "mat1 and mat2 shapes cannot be multiplied (256x512 and 1024x10)")},
      {"value_about_memory",
       thrown("ValueError", exception,
              "batch too large, would run out of memory: CUDA out of memory. Tried to allocate 1 GiB")},
      {"handled_oom", with(thrown("ValueError", exception, "loss is nan"), [](auto& facts) { facts.ooms_risen = 1; })},
      {"not_supported", thrown("RuntimeError", exception, "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED")},
      {"missing_key", thrown("KeyError", exception, "'out of memory'")},
      {"shared_memory", thrown("RuntimeError", exception,
                               "DataLoader worker (pid 12) is killed by signal: Bus error. It is possible that "
                               "dataloader's workers are out of shared memory.")},
      {"killed", with(FailureFacts{}, [](auto& facts) { facts.signal = 9; })},
      {"segv", with(FailureFacts{}, [](auto& facts) { facts.signal = 11; })},
      {"exit", with(FailureFacts{}, [](auto& facts) { facts.exit_code = 3; })},
      {"worker_killed", thrown("RuntimeError", exception, "DataLoader worker (pid 4711) is killed by signal: Killed.")},
      {"refused",
       with(thrown("ValueError", exception, "fp16 needs a GPU"), [](auto& facts) { facts.bad_settings = true; })},
      {"no_module", with(thrown("ModuleNotFoundError", exception, "No module named 'train'"),
                         [](auto& facts) { facts.user_error = true; })},
  };
}

Result<schema::TrialPhase> parse_phase(std::string_view text) {
  if (text == "prepare") return schema::TrialPhase::create_session;
  if (text == "warmup") return schema::TrialPhase::warmup;
  if (text == "measure") return schema::TrialPhase::measure;
  return fail(ErrorCode::invalid_argument, "fault phase \"{}\": expected prepare, warmup or measure", text);
}

Result<void> parse_condition(std::string_view text, StepFault& fault) {
  const auto equals = text.find('=');
  const auto name = base::trim(text.substr(0, equals));
  const auto value = equals == std::string_view::npos ? std::string_view{} : base::trim(text.substr(equals + 1));
  if (name == "batch>") {
    RL_TRY_ASSIGN(fault.batch_from, base::parse_integer(value, "fault condition batch>="));
  } else if (name == "workers") {
    RL_TRY_ASSIGN(const auto workers, base::parse_integer(value, "fault condition workers="));
    fault.workers = static_cast<int>(workers);
  } else if (name == "amp" && base::enum_from_name<schema::AmpMode>(value)) {
    fault.amp = base::enum_from_name<schema::AmpMode>(value);
  } else if (name == "data" && base::enum_from_name<schema::DataMode>(value)) {
    fault.data = base::enum_from_name<schema::DataMode>(value);
  } else {
    return fail(ErrorCode::invalid_argument,
                "fault condition \"{}\": expected batch>=N, workers=N, amp=NAME or data=NAME", text);
  }
  return {};
}

Result<StepFault> parse_step_fault(std::string_view text) {
  StepFault fault;
  const auto condition = text.find(" if ");
  auto head = base::trim(text.substr(0, condition));
  if (const auto at = head.find('@'); at != std::string_view::npos) {
    RL_TRY_ASSIGN(fault.phase, parse_phase(head.substr(at + 1)));
    head = head.substr(0, at);
  }
  fault.kind = head;
  std::vector<std::string> names;
  for (const auto& kind : step_fault_kinds()) names.push_back(kind.first);
  if (std::find(names.begin(), names.end(), fault.kind) == names.end())
    return fail(ErrorCode::invalid_argument, "unknown fault \"{}\"", fault.kind)
        .hint("{}", base::did_you_mean(fault.kind, names));
  if (condition == std::string_view::npos) return fault;
  auto rest = text.substr(condition + 4);
  while (!rest.empty()) {
    const auto next = rest.find(" and ");
    RL_TRY(parse_condition(base::trim(rest.substr(0, next)), fault));
    rest = next == std::string_view::npos ? std::string_view{} : rest.substr(next + 5);
  }
  return fault;
}

}  // namespace

bool StepFault::meets(const schema::TrainingSettings& settings, schema::DataMode mode) const noexcept {
  return settings.batch >= batch_from && (!workers || *workers == settings.workers) && (!amp || *amp == settings.amp) &&
         (!data || *data == mode);
}

const std::vector<std::pair<std::string, FailureFacts>>& step_fault_kinds() {
  static const auto kinds = make_kinds();
  return kinds;
}

Result<SyntheticStepOptions> parse_step_options(std::string_view text) {
  constexpr std::string_view kPrefix = "synthetic:";
  if (text == "synthetic") text = {};
  if (text.substr(0, kPrefix.size()) == kPrefix) text.remove_prefix(kPrefix.size());
  SyntheticStepOptions options;
  for (const auto& piece : base::split(text, ',')) {
    const auto item = base::trim(piece);
    if (item.empty()) continue;
    const auto equals = item.find('=');
    const std::string name(base::trim(item.substr(0, equals)));
    const auto value = equals == std::string_view::npos ? std::string_view{} : base::trim(item.substr(equals + 1));
    if (name == "fault") {
      RL_TRY_ASSIGN(auto fault, parse_step_fault(value));
      options.faults.push_back(std::move(fault));
      continue;
    }
    std::vector<std::string> names{"fault"};
    for (const auto& known : kItems) names.emplace_back(known.name);
    const auto* known =
        std::find_if(std::begin(kItems), std::end(kItems), [&](const Item& entry) { return name == entry.name; });
    if (known == std::end(kItems))
      return fail(ErrorCode::invalid_argument, "synthetic training step: unknown item \"{}\"; known: {}", name,
                  fmt::join(names, ", "))
          .hint("{}", base::did_you_mean(name, names));
    const auto number = base::parse_number(value, name);
    const bool positive =
        std::any_of(std::begin(kPositive), std::end(kPositive), [&](const char* entry) { return name == entry; });
    if (!number || *number < 0 || *number > 1e9 || (positive && *number <= 0))
      return fail(ErrorCode::invalid_argument, "synthetic training step: {}={}: expected a number {} 0 to 1e9", name,
                  value, positive ? "above" : "from");
    options.*(known->member) = *number;
  }
  return options;
}

}  // namespace ridgeline::workload
