// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/load_error.hpp"

namespace ridgeline::doctor {
namespace {

Check make(std::string id, std::string title, CheckStatus status, std::string evidence, std::string fix = {},
           std::vector<std::string> commands = {}) {
  return {"libraries." + std::move(id), std::move(title), CheckGroup::libraries, status,
          std::move(evidence),          std::move(fix),   std::move(commands)};
}

/// A message of ours ends with the next step after its last "; ": the evidence before it, the step itself.
std::pair<std::string, std::string> split_advice(const std::string& message, std::string fallback) {
  const auto at = message.find("; looked in: ");
  if (at != std::string::npos) {
    const auto step = message.rfind("; run ");
    const auto place = message.rfind("; put ");
    const auto last = std::max(step == std::string::npos ? 0 : step, place == std::string::npos ? 0 : place);
    return {message.substr(0, at), last > at ? message.substr(last + 2) : std::move(fallback)};
  }
  const auto last = message.rfind("; ");
  if (last == std::string::npos) return {message, std::move(fallback)};
  return {message.substr(0, last), message.substr(last + 2)};
}

/// "pip install x" of "run pip install x, or put ...".
std::vector<std::string> command_in(const std::string& advice) {
  for (const auto* start : {"pip install ", "scripts/fetch_onnxruntime.sh"}) {
    const auto at = advice.find(start);
    if (at == std::string::npos) continue;
    return {advice.substr(at, advice.find_first_of(",;", at) - at)};
  }
  return {};
}

bool offers(const schema::RuntimeIdentity& identity, std::string_view provider) {
  return std::find(identity.providers.begin(), identity.providers.end(), provider) != identity.providers.end();
}

Check runtime_check(const RuntimeFacts& runtime) {
  if (!runtime.identity) {
    const auto [evidence, fix] =
        split_advice(runtime.error, "run scripts/fetch_onnxruntime.sh, or give --ort-library FILE");
    const auto none = evidence.rfind("no ONNX Runtime library found", 0) == 0;
    return make(
        "onnxruntime", "ONNX Runtime", CheckStatus::fail,
        none ? "no library found: ONNX models cannot be run" : evidence,
        none ? "fetch it, install the Python package, or give --ort-library FILE" : fix,
        none ? std::vector<std::string>{"scripts/fetch_onnxruntime.sh", "pip install onnxruntime"} : command_in(fix));
  }
  std::vector<std::string> names;
  for (const auto& provider : runtime.identity->providers)
    names.push_back(provider.substr(0, provider.find("ExecutionProvider")));
  return make(
      "onnxruntime", "ONNX Runtime", CheckStatus::ok,
      fmt::format("{} ({}); {}", runtime.identity->version, fmt::join(names, ", "), runtime.identity->library_path));
}

Check provider_check(const Facts& facts) {
  constexpr auto kTitle = "CUDA provider";
  const auto& identity = facts.runtime.identity;
  if (!identity) return make("cuda_provider", kTitle, CheckStatus::skipped, "no ONNX Runtime to ask");
  const bool gpu = facts.driver.has_gpu();
  if (!offers(*identity, "CUDAExecutionProvider"))
    return gpu ? make("cuda_provider", kTitle, CheckStatus::warn,
                      "this ONNX Runtime was built without it: the GPU stays unused",
                      "fetch the GPU build, or name one with --ort-library",
                      {"scripts/fetch_onnxruntime.sh --gpu", "pip install onnxruntime-gpu"})
               : make("cuda_provider", kTitle, CheckStatus::skipped, "no GPU");
  const auto note = identity->provider_notes.find("cuda");
  if (note == identity->provider_notes.end())
    return make("cuda_provider", kTitle, CheckStatus::ok, "all its libraries load");
  const auto [evidence, fix] = split_advice(note->second, "see docs/troubleshooting.md");
  if (!gpu) return make("cuda_provider", kTitle, CheckStatus::skipped, "no GPU");
  return make("cuda_provider", kTitle, CheckStatus::fail, evidence, fix, command_in(fix));
}

/// Of the libraries that a worker has loaded, those whose file name starts so: "/x/libcudnn.so.9 (9.19.0)".
std::vector<std::string> loaded(const schema::RuntimeIdentity& identity, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& line : identity.loaded_libraries) {
    const auto path = line.substr(0, line.find(" ("));
    if (path.substr(path.rfind('/') + 1).rfind(name, 0) == 0) found.push_back(line);
  }
  return found;
}

struct CudaPart {
  std::string_view id;
  std::string_view title;
  std::string_view file;
  std::string_view lost;
};
constexpr std::array kCudaParts{CudaPart{"cuda_runtime", "CUDA runtime", "libcudart.so", "the CUDA provider"},
                                CudaPart{"cublas", "cuBLAS", "libcublas.so", "the CUDA provider"},
                                CudaPart{"cudnn", "cuDNN", "libcudnn.so", "convolutions at full speed"}};

Check cuda_part_check(const CudaPart& part, const Facts& facts) {
  const auto id = std::string(part.id);
  const auto title = std::string(part.title);
  const auto& identity = facts.runtime.identity;
  const auto found = identity ? loaded(*identity, part.file) : std::vector<std::string>{};
  if (!found.empty()) return make(id, title, CheckStatus::ok, fmt::format("{}", fmt::join(found, ", ")));
  if (!facts.driver.has_gpu()) return make(id, title, CheckStatus::skipped, "no GPU");
  if (!identity || !offers(*identity, "CUDAExecutionProvider"))
    return make(id, title, CheckStatus::skipped, "no CUDA provider that would need it");
  const auto note = identity->provider_notes.find("cuda");
  const bool named = note != identity->provider_notes.end() && note->second.find(part.file) != std::string::npos;
  const auto evidence =
      fmt::format("{} is not loaded{}; lost: {}", part.file, named ? ", see CUDA provider" : "", part.lost);
  return make(id, title, named ? CheckStatus::fail : CheckStatus::warn, evidence,
              fmt::format("install it for CUDA {}", facts.runtime.cuda_major.value_or(13)));
}

struct Optional {
  std::string_view name;
  std::string_view id;
  std::string_view lost;
  std::string_view get;
};
constexpr std::array kOptional{
    Optional{"TensorRT", "tensorrt", "--provider tensorrt", "pip install tensorrt-cu13"},
    Optional{"CUPTI", "cupti", "measured kernel times and bytes (profiling)", "pip install nvidia-cuda-cupti"},
    Optional{"LibTorch", "libtorch", "the native training step of bench (the Python step needs torch in Python only)",
             "pip install torch"}};

/// Absent optional libraries are no warning: most machines do not want them.
Check optional_check(const Optional& library, const Facts& facts) {
  const auto fact = std::find_if(facts.libraries.begin(), facts.libraries.end(),
                                 [&](const LibraryFact& one) { return one.name == library.name; });
  const auto id = std::string(library.id);
  const auto title = std::string(library.name);
  if (fact == facts.libraries.end() || fact->path.empty())
    return make(id, title, CheckStatus::skipped,
                fmt::format("not found; lost: {}; to have it: {}", library.lost, library.get));
  if (!fact->load_error.empty()) {
    const auto problem = explain_load_error(fact->load_error);
    const bool needs_driver = !facts.driver.has_gpu() && problem.thing.find("libcuda.so") != std::string::npos;
    return make(id, title, needs_driver ? CheckStatus::skipped : CheckStatus::warn,
                fmt::format("{}: {} {}; lost: {}", fact->path, problem.thing, problem.why, library.lost),
                needs_driver ? std::string() : problem.fix);
  }
  return make(id, title, CheckStatus::ok,
              fmt::format("{}{}", fact->version.empty() ? "" : fact->version + "; ", fact->path));
}

}  // namespace

std::vector<Check> check_libraries(const Facts& facts) {
  std::vector<Check> checks{runtime_check(facts.runtime), provider_check(facts)};
  for (const auto& part : kCudaParts) checks.push_back(cuda_part_check(part, facts));
  for (const auto& library : kOptional) checks.push_back(optional_check(library, facts));
  return checks;
}

}  // namespace ridgeline::doctor
