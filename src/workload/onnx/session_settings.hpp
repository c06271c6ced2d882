// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"
#include "schema/param_def.hpp"
#include "workload/onnx/ort_plugins.hpp"

struct OrtApi;
struct OrtRunOptions;
struct OrtSessionOptions;

namespace ridgeline::workload {

/// What a session needs beside its configuration.
struct SessionExtras {
  void* compute_stream = nullptr;  ///< a CUstream for copies and kernels alike; runs then return before it is drained
  std::map<std::string, std::int64_t> free_dimensions;  ///< symbolic dimensions to fix, by name
  bool record_assignment = false;                       ///< let the session tell which provider has which node
  std::string profile;                 ///< how the names of profiles of its runs start; "": none is written
  std::optional<PluginDevice> plugin;  ///< of a provider that is a plug-in
  std::string optimized_model;         ///< path to write the optimized graph to, its weights beside it; "" = not
};

/// One configuration as ONNX Runtime's option objects. Reusable for several sessions that share the extras.
class SessionSettings {
 public:
  using RunHandle = std::unique_ptr<OrtRunOptions, void (*)(OrtRunOptions*)>;
  /// Applies every key of `configuration` by its catalogue row: session options by their setter, config entries and
  /// provider or run options by target name; Ridgeline's own levers are skipped. Errors: invalid_argument naming the
  /// key and the value (unknown key, illegal value, option of another provider); unsupported for a provider or value
  /// that this library does not have.
  [[nodiscard]] static base::Result<SessionSettings> make(const OrtEnvironment& environment,
                                                          const schema::Configuration& configuration,
                                                          const std::string& provider,
                                                          const SessionExtras& extras = {});

  [[nodiscard]] const OrtSessionOptions* session_options() const noexcept { return session_.get(); }
  static constexpr int kOwnGraph = 0;  ///< the provider numbers its graphs, which it can do for one shape
  static constexpr int kNoGraph = -1;
  /// Options for the inferences of one member of a shape mix; `graph_id` names its CUDA graph.
  [[nodiscard]] base::Result<RunHandle> make_run_options(int graph_id) const;
  /// Values as the option objects hold them after all was applied, by parameter key. Settings that the C API cannot
  /// report are absent.
  [[nodiscard]] const std::map<std::string, std::string>& read_back() const noexcept { return read_back_; }
  /// set_denormal_as_zero, which is for threads that run the session as well.
  [[nodiscard]] bool denormals_are_zero() const noexcept { return denormals_are_zero_; }

 private:
  using SessionHandle = std::unique_ptr<OrtSessionOptions, void (*)(OrtSessionOptions*)>;
  SessionSettings(const OrtApi& api, SessionHandle session) : api_(&api), session_(std::move(session)) {}
  const OrtApi* api_;
  SessionHandle session_;
  std::vector<std::pair<std::string, std::string>> run_entries_;
  std::map<std::string, std::string> read_back_;
  bool denormals_are_zero_ = false;
};

/// The text the runtime expects for a value: booleans are "1" and "0".
[[nodiscard]] std::string ort_text(const schema::Value& value);
/// The same of a provider's option: sizes are GB for people and bytes for the runtime.
[[nodiscard]] std::string provider_text(const schema::ParamDef& param, const schema::Value& value);

}  // namespace ridgeline::workload
