// SPDX-License-Identifier: Apache-2.0
#include "campaign/provider_choice.hpp"

#include <algorithm>
#include <string_view>

namespace ridgeline::campaign {

using base::ErrorCode;

namespace {

bool lists(const schema::RuntimeIdentity& runtime, std::string_view provider) {
  return std::find(runtime.providers.begin(), runtime.providers.end(), provider) != runtime.providers.end();
}

/// nullptr: nothing is known against it.
const schema::ProviderNote* why_not(const schema::RuntimeIdentity& runtime, const std::string& provider) {
  const auto note = runtime.provider_notes.find(provider);
  return note == runtime.provider_notes.end() ? nullptr : &note->second;
}

/// A machine without a driver and without a runtime for GPUs is one without a GPU; on others it should have been seen.
std::string unseen_gpu_note(const schema::RuntimeIdentity& runtime, const schema::Environment& environment) {
  const auto& note = environment.gpu_note;
  const auto* reason = why_not(runtime, "cuda");
  const bool driver = note.find("libnvidia-ml.so.1: cannot open shared object file") == std::string::npos;
  const bool all_but_the_driver = lists(runtime, "CUDAExecutionProvider") &&
                                  (reason == nullptr || reason->missing == std::vector<std::string>{"libcuda.so.1"});
  if (note.empty() || (!driver && !all_but_the_driver)) return {};
  return fmt::format("{}; the CPU is tuned", note);
}

}  // namespace

base::Result<std::string> resolve_provider(const std::string& asked, const schema::RuntimeIdentity& runtime,
                                           const schema::Environment& environment) {
  if (asked == "cpu") return asked;
  if (asked == "auto") {
    const bool usable =
        !environment.gpus.empty() && lists(runtime, "CUDAExecutionProvider") && why_not(runtime, "cuda") == nullptr;
    return std::string(usable ? "cuda" : "cpu");
  }
  const std::string listed = asked == "cuda" ? "CUDAExecutionProvider" : "TensorrtExecutionProvider";
  if (environment.gpus.empty())
    return base::fail(ErrorCode::unavailable, "provider \"{}\" needs an NVIDIA GPU, none was found{}{}", asked,
                      environment.gpu_note.empty() ? "" : ": ", environment.gpu_note)
        .hint("use --provider cpu, or see ridgeline doctor");
  if (!lists(runtime, listed))
    return base::fail(ErrorCode::unavailable, "provider \"{}\": {} {} at {} was built without {}", asked, runtime.name,
                      runtime.version, runtime.library_path, listed)
        .hint("use --provider cpu or another library with --ort-library");
  if (const auto* note = why_not(runtime, asked); note != nullptr)
    return base::fail(ErrorCode::unavailable, "provider \"{}\" cannot be used: {}", asked, note->reason())
        .hint("{}", note->hint);
  // A session with TensorRT hands what TensorRT cannot run to CUDA, and so needs all that CUDA needs.
  if (const auto* note = why_not(runtime, "cuda"); asked == "tensorrt" && note != nullptr)
    return base::fail(ErrorCode::unavailable,
                      "provider \"{}\" cannot be used: its sessions load the CUDA provider too, and {}", asked,
                      note->reason())
        .hint("{}", note->hint);
  return asked;
}

std::string idle_gpu_note(const std::string& provider, const schema::RuntimeIdentity& runtime,
                          const schema::Environment& environment) {
  if (provider != "cpu" || runtime.name != "onnxruntime") return {};
  if (environment.gpus.empty()) return unseen_gpu_note(runtime, environment);
  const auto* note = why_not(runtime, "cuda");
  const auto reason = note != nullptr
                          ? base::error_line(note->reason(), note->hint)
                          : fmt::format(
                                "{} {} at {} was built without the CUDA provider; scripts/fetch_onnxruntime.sh --gpu "
                                "fetches one that has it",
                                runtime.name, runtime.version, runtime.library_path);
  return fmt::format("{} is present but not used: {}", environment.gpus.front().name, reason);
}

}  // namespace ridgeline::campaign
