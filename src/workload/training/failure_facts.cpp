// SPDX-License-Identifier: Apache-2.0
#include "workload/training/failure_facts.hpp"

#include <signal.h>

#include <algorithm>
#include <array>

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
    "MemoryError",      "std::bad_alloc"};

/// Phrases that only failed allocations produce, for errors whose type was lost on the way (TorchScript rethrows plain
/// runtime errors, cuBLAS and the CPU allocator have no type of their own).
constexpr std::array kOomPhrases{
    "CUDA out of memory. Tried to allocate",  // c10 CUDACachingAllocator
    "CUDA error: out of memory",              // direct API failures
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "CUSOLVER_STATUS_ALLOC_FAILED",
    "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
    "DefaultCPUAllocator: can't allocate memory",
    "DefaultCPUAllocator: not enough memory",
    "HIP out of memory. Tried to allocate",
    "std::bad_alloc",
    "Cannot allocate memory",  // ENOMEM from the system, for example while forking workers
};

bool is_oom_type(const std::string& name) {
  return std::any_of(kOomTypes.begin(), kOomTypes.end(), [&](const char* type) { return name == type; });
}

/// Types under which frameworks report failures of their own allocators. An error of another type beside or about a
/// failed allocation (a ValueError of the user's own that mentions one) is none.
constexpr std::array kFrameworkTypes{"RuntimeError", "std::runtime_error", "c10::Error", "torch.jit.Error", "OSError"};

bool is_framework_type(const FailureFacts& facts) {
  const auto known = [](const std::string& name) {
    return std::any_of(kFrameworkTypes.begin(), kFrameworkTypes.end(), [&](const char* type) { return name == type; });
  };
  return facts.type.empty() || known(facts.type) || std::any_of(facts.bases.begin(), facts.bases.end(), known);
}

std::string first_line(const std::string& text) {
  const auto trimmed = base::trim(text);
  return std::string(trimmed.substr(0, trimmed.find('\n')));
}

}  // namespace

OomEvidence oom_evidence(const FailureFacts& facts) {
  if (is_oom_type(facts.type) || std::any_of(facts.bases.begin(), facts.bases.end(), is_oom_type))
    return OomEvidence::type;
  if (facts.cuda_error == kCudaErrorMemoryAllocation) return OomEvidence::error_code;
  // An error of another CUDA code that happens beside a failed and handled allocation stays what its code says.
  const bool framework = is_framework_type(facts);
  if (framework && !facts.cuda_error && facts.ooms_risen.value_or(0) > 0) return OomEvidence::allocator_counter;
  const bool killed = facts.signal == SIGKILL || facts.exit_code == kShellKilled ||
                      facts.message.find("is killed by signal: Killed") != std::string::npos;  // a DataLoader worker
  if (killed && facts.kernel_oom_kill) return OomEvidence::exit_status;
  if (facts.cuda_error || killed || !framework) return OomEvidence::none;
  for (const char* phrase : kOomPhrases)
    if (facts.message.find(phrase) != std::string::npos) return OomEvidence::text;
  return OomEvidence::none;
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
  } else if (facts.user_error) {
    code = ErrorCode::not_found;
    message = first_line(facts.message);
  } else if (facts.bad_settings) {
    code = ErrorCode::invalid_argument;
  } else if (facts.exit_code || facts.signal) {
    code = ErrorCode::crashed;
  }
  out.error = {code, std::move(message)};
  return out;
}

}  // namespace ridgeline::workload
