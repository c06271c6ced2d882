// SPDX-License-Identifier: Apache-2.0
#include "schema/suggestion.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace ridgeline::schema {
namespace {

constexpr std::size_t kMostListed = 4;
constexpr std::size_t kLeastPart = 3;  ///< letters: fewer are a part of anything

struct Alias {
  std::string_view word;  ///< as plain_word writes it
  std::string_view name;
};

/// What people who know another tool say. A word may stand for several names: those that are known where it was used
/// are meant.
constexpr std::array kAliases{
    // providers, devices
    Alias{"gpu", "cuda"},
    Alias{"nvidia", "cuda"},
    Alias{"cudnn", "cuda"},
    Alias{"trt", "tensorrt"},
    Alias{"tensor-rt", "tensorrt"},
    Alias{"trt-rtx", "nv-tensorrt-rtx"},
    Alias{"tensorrt-rtx", "nv-tensorrt-rtx"},
    Alias{"ov", "openvino"},
    Alias{"intel", "openvino"},
    Alias{"vulkan", "webgpu"},
    Alias{"any", "auto"},
    Alias{"all", "auto"},
    Alias{"best", "auto"},
    Alias{"default", "cpu"},
    Alias{"gpu", "device"},
    Alias{"cuda", "device"},
    Alias{"cpu", "host"},
    Alias{"ram", "host"},
    Alias{"onnxruntime", "onnx"},
    Alias{"ort", "onnx"},
    // objectives and metrics
    Alias{"speed", "latency"},
    Alias{"time", "latency"},
    Alias{"median", "latency"},
    Alias{"p50", "latency"},
    Alias{"mean", "latency"},
    Alias{"tail", "p99"},
    Alias{"latency-p99", "p99"},
    Alias{"p95", "p99"},
    Alias{"p90", "p99"},
    Alias{"fps", "throughput"},
    Alias{"qps", "throughput"},
    Alias{"rate", "throughput"},
    Alias{"items", "throughput"},
    Alias{"memory", "peak_rss_mb"},
    Alias{"rss", "peak_rss_mb"},
    Alias{"ram", "peak_rss_mb"},
    Alias{"vram", "gpu_memory_gb"},
    Alias{"gpu-memory", "gpu_memory_gb"},
    Alias{"energy", "gpu_energy_mj_per_item"},
    Alias{"load-time", "session_create_ms"},
    Alias{"startup", "session_create_ms"},
    // precisions, switches, searches
    Alias{"float16", "fp16"},
    Alias{"half", "fp16"},
    Alias{"bfloat16", "bf16"},
    Alias{"float32", "fp32"},
    Alias{"float", "fp32"},
    Alias{"full", "fp32"},
    Alias{"true", "on"},
    Alias{"yes", "on"},
    Alias{"1", "on"},
    Alias{"enable", "on"},
    Alias{"false", "off"},
    Alias{"no", "off"},
    Alias{"0", "off"},
    Alias{"none", "off"},
    Alias{"disable", "off"},
    Alias{"bayes", "adaptive"},
    Alias{"bayesian", "adaptive"},
    Alias{"tpe", "adaptive"},
    Alias{"auto", "adaptive"},
    Alias{"default", "adaptive"},
    Alias{"exhaustive", "grid"},
    Alias{"full", "grid"},
    Alias{"all", "grid"},
    Alias{"fast", "quick"},
    Alias{"process", "trial"},
    Alias{"none", "pooled"},
    Alias{"constant", "fixed"},
    Alias{"uniform", "fixed"},
    Alias{"random", "poisson"},
    Alias{"error", "fail"},
    Alias{"ignore", "pass"},
    Alias{"ok", "pass"},
    // parameters
    Alias{"threads", "intra_op_num_threads"},
    Alias{"num-threads", "intra_op_num_threads"},
    Alias{"intra-threads", "intra_op_num_threads"},
    Alias{"intra-op-threads", "intra_op_num_threads"},
    Alias{"inter-threads", "inter_op_num_threads"},
    Alias{"inter-op-threads", "inter_op_num_threads"},
    Alias{"opt-level", "graph_optimization_level"},
    Alias{"optimization", "graph_optimization_level"},
    Alias{"optimization-level", "graph_optimization_level"},
    Alias{"batch", "batch_size"},
    Alias{"bs", "batch_size"},
    Alias{"sessions", "parallel_sessions"},
    Alias{"mode", "execution_mode"},
    Alias{"seq", "sequential"},
    Alias{"par", "parallel"},
    Alias{"99", "all"},
    Alias{"ort-enable-all", "all"},
    Alias{"ort-enable-basic", "basic"},
    Alias{"ort-enable-extended", "extended"},
    Alias{"ort-disable-all", "disable_all"},
    Alias{"max", "all"},
    // commands
    Alias{"optimize", "tune"},
    Alias{"optimise", "tune"},
    Alias{"search", "tune"},
    Alias{"run", "tune"},
    Alias{"benchmark", "bench"},
    Alias{"train", "bench"},
    Alias{"grid", "sweep"},
    Alias{"trace", "profile"},
    Alias{"import", "profile"},
    Alias{"prof", "profile"},
    Alias{"video", "stream"},
    Alias{"camera", "stream"},
    Alias{"top", "monitor"},
    Alias{"smi", "monitor"},
    Alias{"gpu", "monitor"},
    Alias{"list", "history"},
    Alias{"ls", "history"},
    Alias{"runs", "history"},
    Alias{"log", "history"},
    Alias{"diff", "compare"},
    Alias{"cmp", "compare"},
    Alias{"repeat", "rerun"},
    Alias{"write", "apply"},
    Alias{"undo", "rollback"},
    Alias{"revert", "rollback"},
    Alias{"restore", "rollback"},
    Alias{"check", "doctor"},
    Alias{"diagnose", "doctor"},
    Alias{"info", "doctor"},
    Alias{"settings", "params"},
    Alias{"parameters", "params"},
    Alias{"options", "params"},
    Alias{"export", "report"},
    Alias{"html", "report"},
    Alias{"view", "show"},
    Alias{"result", "show"},
};

/// "CUDAExecutionProvider" and "Cuda" are both "cuda".
std::string plain_word(std::string_view text) {
  std::string word;
  for (const char c : text)
    word += c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::string_view kProvider = "executionprovider";
  if (word.size() > kProvider.size() && word.ends_with(kProvider)) word.resize(word.size() - kProvider.size());
  return word;
}

}  // namespace

std::vector<std::string> suggestions(std::string_view word, const std::vector<std::string>& known) {
  const auto plain = plain_word(word);
  std::vector<std::string> plain_names;
  for (const auto& name : known) plain_names.push_back(plain_word(name));
  const auto those = [&](const auto& meant) {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < known.size(); ++i)
      if (meant(i)) found.push_back(known[i]);
    return found;
  };
  if (auto same = those([&](std::size_t i) { return plain_names[i] == plain; }); !same.empty()) return same;
  const auto called = [&](const std::string& name) {
    return std::any_of(kAliases.begin(), kAliases.end(),
                       [&](const Alias& alias) { return alias.word == plain && alias.name == name; });
  };
  if (auto other = those([&](std::size_t i) { return called(known[i]); }); !other.empty()) return other;
  if (const auto near = base::nearest_name(plain, plain_names); !near.empty())
    return those([&](std::size_t i) { return plain_names[i] == near; });
  if (plain.size() < kLeastPart) return {};
  auto parts = those([&](std::size_t i) { return plain_names[i].find(plain) != std::string::npos; });
  if (parts.size() > kMostListed) parts.clear();
  return parts;
}

std::string suggest(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::string> quoted;
  for (const auto& name : suggestions(word, known)) quoted.push_back('"' + name + '"');
  return quoted.empty() ? std::string() : fmt::format("did you mean {}?", fmt::join(quoted, " or "));
}

}  // namespace ridgeline::schema
