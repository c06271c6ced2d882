// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/message.hpp"

namespace ridgeline::schema {

/// What Ridgeline watches while it measures: the CPU, or an NVIDIA GPU. `other`: neither for sure, so that nothing is
/// said of how well a device is used.
enum class DeviceKind { cpu, gpu, other };

/// One execution provider of ONNX Runtime, one row of the catalogue. All that other rooms know of a provider they ask
/// here; none compares its name (scripts/check_providers.py, a test). Its options are the catalogue's parameters that
/// list its id.
struct ExecutionProvider {
  std::string id;            ///< ours: --provider, TrialSpec::provider
  std::string library_name;  ///< as ONNX Runtime lists it
  std::string title;         ///< for people
  DeviceKind device = DeviceKind::cpu;
  std::string engine = "onnxruntime";  ///< RuntimeIdentity::name of what has it
  std::string file;  ///< opened from beside the runtime's core library; "": built into it, or a plug-in
  /// Libraries that it opens by name while it runs and cannot do without, so that no DT_NEEDED entry tells of them.
  std::vector<std::string> opens;
  std::vector<std::string> fallbacks;  ///< ids: who gets the nodes that it cannot run, in this order
  int auto_rank = 0;                   ///< "auto" takes the usable one of the highest; 0: only who is asked for
  bool takes_device_tensors = false;   ///< inputs and outputs may stay in its device's memory
  bool compiles_graph = false;    ///< into engines: nobody can read their nodes, and a session takes minutes to make
  bool compiles_calls = false;    ///< the first calls may take minutes, as they are compiled
  bool weights_in_arena = false;  ///< of its device's memory
  bool graph_per_shape = false;   ///< captures a CUDA graph for each input shape of a session, not one for all
  bool own_threads = false;       ///< runs nodes on threads of its own: what the runtime's do is left to other nodes
  bool own_process = false;       ///< of each session, which ends with it: nothing stays in the worker
  /// Comes as a library that is registered with the runtime (TrialSpec::plugin). Of an empty library_name: any whose
  /// provider has no row.
  bool plugin = false;
  std::string plugin_file;     ///< how the name of that library starts; "": any
  std::string plugin_devices;  ///< what it takes: "Intel CPUs, GPUs and NPUs only"
  Message instead;             ///< what to do where it offers no device

  [[nodiscard]] bool on_cpu() const noexcept { return device == DeviceKind::cpu; }
  [[nodiscard]] bool on_gpu() const noexcept { return device == DeviceKind::gpu; }
};

/// Every provider of ONNX Runtime that a trial can run on, the CPU's first.
[[nodiscard]] const std::vector<ExecutionProvider>& execution_providers();

/// What a PyTorch model runs on, the CPU first: no provider of ONNX Runtime's, but trials, devices and settings have it
/// in the same place.
[[nodiscard]] const std::vector<ExecutionProvider>& torch_providers();

/// What an ONNX Runtime may have beside them: named where it is found, run by no trial.
[[nodiscard]] const std::vector<ExecutionProvider>& other_providers();

/// nullptr when there is none of that id, PyTorch's included; by the name in the library or by the file (of no plug-in)
/// also one of other_providers().
[[nodiscard]] const ExecutionProvider* find_provider(std::string_view id);
[[nodiscard]] const ExecutionProvider* find_provider_named(std::string_view library_name);
[[nodiscard]] const ExecutionProvider* find_provider_in(std::string_view file);

/// The row of a plug-in by the name that its library gives to the provider, the one for all others where none has it;
/// and the row of a plug-in's file, nullptr where none has it.
[[nodiscard]] const ExecutionProvider& plugin_provider(std::string_view ep_name);
[[nodiscard]] const ExecutionProvider* find_plugin_in(std::string_view file);

/// As find_provider; one that can do nothing where the id is unknown.
[[nodiscard]] const ExecutionProvider& provider_of(std::string_view id);
[[nodiscard]] inline bool runs_on_gpu(std::string_view id) { return provider_of(id).on_gpu(); }

/// Of the provider's engine, the one that runs on any CPU.
[[nodiscard]] const ExecutionProvider& cpu_provider_beside(std::string_view id);

/// What every build has, and where nodes end that nobody else runs.
[[nodiscard]] const ExecutionProvider& cpu_provider();

/// Those that "auto" considers, the most wanted first.
[[nodiscard]] std::vector<const ExecutionProvider*> auto_providers();

/// What "auto" takes on a GPU where everything is installed.
[[nodiscard]] const ExecutionProvider& usual_gpu_provider();

/// The provider itself, or the first that it falls back to, that is no plug-in and runs the model's nodes one by one:
/// the reference for the others.
[[nodiscard]] const ExecutionProvider& plain_provider_of(std::string_view id);

[[nodiscard]] std::vector<std::string> provider_ids();
/// That of `id` and of those that are called as it is in their libraries: the built-in and the plug-in of one provider.
[[nodiscard]] std::vector<std::string> namesake_ids(std::string_view id);
/// Of those for which it holds: provider_ids(&ExecutionProvider::takes_device_tensors).
[[nodiscard]] std::vector<std::string> provider_ids(bool ExecutionProvider::*can);

}  // namespace ridgeline::schema
