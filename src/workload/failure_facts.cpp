// SPDX-License-Identifier: Apache-2.0
#include "workload/failure_facts.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::OomEvidence;

constexpr int kCudaErrorMemoryAllocation = 2;
constexpr int kShellKilled = 128 + SIGKILL;

/// Types that mean nothing else. torch.cuda.OutOfMemoryError is called torch.OutOfMemoryError from 2.5 on; Python's
/// MemoryError and std::bad_alloc are of the host.
constexpr std::array kOomTypes{
    "OutOfMemoryError", "torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError", "c10::OutOfMemoryError",
    "MemoryError",      "std::bad_alloc",         "std::bad_array_new_length"};

/// Phrases that only failed allocations produce, for errors whose type was lost on the way (TorchScript rethrows plain
/// runtime errors, cuBLAS and the CPU allocator have no type of their own).
constexpr std::array kOomPhrases{
    "CUDA out of memory. Tried to allocate",  // c10 CUDACachingAllocator
    "CUDA error: out of memory",              // direct API failures
    "CUDA driver error: out of memory",       // of the driver's API, under expandable segments
    "Cuda failure 2 'out of memory'",         // NCCL
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
    "CUFFT_ALLOC_FAILED",
    "CUSOLVER_STATUS_ALLOC_FAILED",
    "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
    "DefaultCPUAllocator: can't allocate memory",
    "DefaultCPUAllocator: not enough memory",
    "HIP out of memory. Tried to allocate",
    "std::bad_alloc",
    "Cannot allocate memory (12)",  // ENOMEM of torch's shared memory
};

/// ENOMEM as Python writes it.
constexpr std::string_view kNoMemory = "[Errno 12] ";

/// Errors of the device itself: an address or an assertion of a kernel, its hardware, its program. What fails after
/// them fails because of them.
constexpr std::array kDeviceFaults{214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719};

bool is_oom_type(const std::string& name) {
  return std::any_of(kOomTypes.begin(), kOomTypes.end(), [&](const char* type) { return name == type; });
}

/// Types under which frameworks report failures of their own allocators. An error of another type beside or about a
/// failed allocation (a ValueError of the user's own that mentions one) is none.
constexpr std::array kFrameworkTypes{"RuntimeError", "std::runtime_error", "c10::Error", "torch.jit.Error"};

bool is_framework_type(const std::string& type, const std::vector<std::string>& bases) {
  const auto known = [](const std::string& name) {
    return std::any_of(kFrameworkTypes.begin(), kFrameworkTypes.end(), [&](const char* one) { return name == one; });
  };
  return type.empty() || known(type) || std::any_of(bases.begin(), bases.end(), known);
}

bool has_phrase(const std::string& message) {
  return std::any_of(kOomPhrases.begin(), kOomPhrases.end(),
                     [&](const char* phrase) { return message.find(phrase) != std::string::npos; });
}

/// A DataLoader's worker that was killed: what torch says depends on where it was waited for.
bool tells_of_killed_worker(const std::string& message) {
  return message.find("is killed by signal: Killed") != std::string::npos ||
         (message.rfind("DataLoader worker (pid", 0) == 0 && message.find("exited unexpectedly") != std::string::npos);
}

/// What an exception says by itself.
OomEvidence told_by(const FailureCause& error) {
  if (is_oom_type(error.type) || std::any_of(error.bases.begin(), error.bases.end(), is_oom_type))
    return OomEvidence::type;
  if (error.cuda_error == kCudaErrorMemoryAllocation || error.system_error == ENOMEM) return OomEvidence::error_code;
  if (error.cuda_error || error.system_error) return OomEvidence::none;
  if (error.type == "OSError" && error.message.rfind(kNoMemory, 0) == 0) return OomEvidence::text;
  return is_framework_type(error.type, error.bases) && has_phrase(error.message) ? OomEvidence::text
                                                                                 : OomEvidence::none;
}

FailureCause own_of(const FailureFacts& facts) {
  return {facts.type, facts.bases, facts.message, facts.cuda_error, facts.system_error};
}

const FailureCause* shortage_among(const std::vector<FailureCause>& causes) {
  const auto found = std::find_if(causes.begin(), causes.end(),
                                  [](const FailureCause& cause) { return told_by(cause) != OomEvidence::none; });
  return found == causes.end() ? nullptr : &*found;
}

std::string first_line(const std::string& text) {
  const auto trimmed = base::trim(text);
  return std::string(trimmed.substr(0, trimmed.find('\n')));
}

}  // namespace

OomEvidence oom_evidence(const FailureFacts& facts) {
  const auto own = told_by(own_of(facts));
  if (own == OomEvidence::type || own == OomEvidence::error_code) return own;
  const bool device_fault = facts.cuda_error && std::find(kDeviceFaults.begin(), kDeviceFaults.end(),
                                                          *facts.cuda_error) != kDeviceFaults.end();
  if (device_fault) return OomEvidence::none;
  if (const auto* cause = shortage_among(facts.causes)) return told_by(*cause);
  // An error of another CUDA code that happens beside a failed and handled allocation stays what its code says.
  const bool framework = is_framework_type(facts.type, facts.bases);
  if (framework && !facts.cuda_error && facts.ooms_risen.value_or(0) > 0) return OomEvidence::allocator_counter;
  const bool killed =
      facts.signal == SIGKILL || facts.exit_code == kShellKilled || tells_of_killed_worker(facts.message);
  if (killed) return facts.kernel_oom_kill ? OomEvidence::exit_status : OomEvidence::none;
  return own;
}

std::string uncaught_type(std::string_view output) {
  constexpr std::string_view kSign = "terminate called after throwing an instance of '";
  const auto at = output.rfind(kSign);
  if (at == std::string_view::npos) return "";
  const auto rest = output.substr(at + kSign.size());
  const auto end = rest.find('\'');
  return end == std::string_view::npos ? "" : std::string(rest.substr(0, end));
}

StepError judge_failure(const FailureFacts& facts) {
  StepError out;
  out.exit_code = facts.exit_code;
  out.signal = facts.signal;
  out.oom = oom_evidence(facts);
  auto message = first_line(facts.message);
  if (!facts.type.empty()) message = message.empty() ? facts.type : fmt::format("{}: {}", facts.type, message);
  ErrorCode code = ErrorCode::internal;
  if (out.oom != OomEvidence::none) {
    code = ErrorCode::out_of_memory;
    const auto* cause = shortage_among(facts.causes);
    if (cause != nullptr && told_by(own_of(facts)) == OomEvidence::none)
      message += fmt::format("; it came from {}{}{}", cause->type, cause->message.empty() ? "" : ": ",
                             first_line(cause->message));
  } else if (facts.user_error) {
    code = ErrorCode::not_found;
    message = first_line(facts.message);
  } else if (facts.bad_settings) {
    code = ErrorCode::invalid_argument;
  } else if (facts.exit_code || facts.signal) {
    code = ErrorCode::crashed;
  }
  if (!facts.place.empty()) message += fmt::format(" ({})", first_line(facts.place));
  if (out.oom == OomEvidence::none && !facts.came_from.empty())
    message += "; it came from " + first_line(facts.came_from);
  for (const auto& line : facts.traceback) message += "\n  " + line;
  out.error = {code, std::move(message), facts.hint};
  return out;
}

RL_DEFINE_JSON(FailureCause, type, bases, message, cuda_error, system_error)
RL_DEFINE_JSON(FailureFacts, type, bases, message, cuda_error, ooms_risen, exit_code, signal, kernel_oom_kill,
               bad_settings, user_error, system_error, causes, hint, traceback, place, came_from)

}  // namespace ridgeline::workload
