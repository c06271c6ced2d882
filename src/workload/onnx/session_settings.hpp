// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"

struct OrtRunOptions;
struct OrtSessionOptions;

namespace ridgeline::workload {

class OrtLibrary;

/// One configuration as ONNX Runtime's option objects. Reusable for several sessions.
class SessionSettings {
 public:
  /// Applies every key of `configuration` by its catalogue row: session options by their setter, config entries and
  /// provider or run options by target name; Ridgeline's own levers are skipped. Errors: invalid_argument naming the
  /// key and the value (unknown key, illegal value, option of another provider); unsupported for a provider or value
  /// that this library does not have.
  [[nodiscard]] static base::Result<SessionSettings> make(const OrtLibrary& library,
                                                          const schema::Configuration& configuration,
                                                          const std::string& provider);

  [[nodiscard]] const OrtSessionOptions* session_options() const noexcept { return session_.get(); }
  [[nodiscard]] const OrtRunOptions* run_options() const noexcept { return run_.get(); }
  /// Values as the option objects hold them after all was applied, by parameter key. Settings that the C API cannot
  /// report are absent.
  [[nodiscard]] const std::map<std::string, std::string>& read_back() const noexcept { return read_back_; }

 private:
  using SessionHandle = std::unique_ptr<OrtSessionOptions, void (*)(OrtSessionOptions*)>;
  using RunHandle = std::unique_ptr<OrtRunOptions, void (*)(OrtRunOptions*)>;
  SessionSettings(SessionHandle session, RunHandle run) : session_(std::move(session)), run_(std::move(run)) {}
  SessionHandle session_;
  RunHandle run_;
  std::map<std::string, std::string> read_back_;
};

/// The text the runtime expects for a value: booleans are "1" and "0".
[[nodiscard]] std::string ort_text(const schema::Value& value);

}  // namespace ridgeline::workload
