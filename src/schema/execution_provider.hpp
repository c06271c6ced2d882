// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::schema {

enum class DeviceKind { cpu, gpu };

/// One execution provider of ONNX Runtime, one row of the catalogue. All that other rooms know of a provider they ask
/// here; none compares its name (scripts/check_providers.py, a test). Its options are the catalogue's parameters that
/// list its id.
struct ExecutionProvider {
  std::string id;            ///< ours: --provider, TrialSpec::provider
  std::string library_name;  ///< as ONNX Runtime lists it
  std::string title;         ///< for people
  DeviceKind device = DeviceKind::cpu;
  std::string file;  ///< opened from beside the runtime's core library; "": built into it
  /// Libraries that it opens by name while it runs and cannot do without, so that no DT_NEEDED entry tells of them.
  std::vector<std::string> opens;
  std::vector<std::string> fallbacks;  ///< ids: who gets the nodes that it cannot run, in this order
  int auto_rank = 0;                   ///< "auto" takes the usable one of the highest; 0: only who is asked for
  bool takes_device_tensors = false;   ///< inputs and outputs may stay in its device's memory
  bool compiles_graph = false;    ///< into engines: nobody can read their nodes, and a session takes minutes to make
  bool weights_in_arena = false;  ///< of its device's memory
  bool graph_per_shape = false;   ///< captures a CUDA graph for each input shape of a session, not one for all

  [[nodiscard]] bool on_gpu() const noexcept { return device == DeviceKind::gpu; }
};

/// Every provider that a trial can run on, the CPU's first.
[[nodiscard]] const std::vector<ExecutionProvider>& execution_providers();

/// What an ONNX Runtime may have beside them: named where it is found, run by no trial.
[[nodiscard]] const std::vector<ExecutionProvider>& other_providers();

/// nullptr when there is none of that id; by the name in the library or by the file also one of other_providers().
[[nodiscard]] const ExecutionProvider* find_provider(std::string_view id);
[[nodiscard]] const ExecutionProvider* find_provider_named(std::string_view library_name);
[[nodiscard]] const ExecutionProvider* find_provider_in(std::string_view file);

/// As find_provider; one that can do nothing where the id is unknown.
[[nodiscard]] const ExecutionProvider& provider_of(std::string_view id);
[[nodiscard]] inline bool runs_on_gpu(std::string_view id) { return provider_of(id).on_gpu(); }

/// What every build has, and where nodes end that nobody else runs.
[[nodiscard]] const ExecutionProvider& cpu_provider();

/// Those that "auto" considers, the most wanted first.
[[nodiscard]] std::vector<const ExecutionProvider*> auto_providers();

/// What "auto" takes on a GPU where everything is installed.
[[nodiscard]] const ExecutionProvider& usual_gpu_provider();

/// The provider itself, or the first that it falls back to, that runs the model's nodes one by one: the reference for
/// what compiles them.
[[nodiscard]] const ExecutionProvider& plain_provider_of(std::string_view id);

[[nodiscard]] std::vector<std::string> provider_ids();
/// Of those for which it holds: provider_ids(&ExecutionProvider::takes_device_tensors).
[[nodiscard]] std::vector<std::string> provider_ids(bool ExecutionProvider::*can);

}  // namespace ridgeline::schema
