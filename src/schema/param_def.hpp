// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/value.hpp"
#include "schema/version_range.hpp"

namespace ridgeline::schema {

enum class ParamType { boolean, integer, number, choice, text };

/// Where a parameter takes effect.
enum class ParamScope {
  session_option,   ///< a SessionOptions setter of the C API
  session_config,   ///< AddSessionConfigEntry
  provider_option,  ///< an execution provider's option map
  arena_option,     ///< OrtArenaCfg of an arena of GPU memory that is registered with the OrtEnv
  run_option,       ///< RunOptions
  execution,        ///< Ridgeline's own lever: batch size, sessions in flight, IO binding
  torch_option,     ///< of a PyTorch model: a switch of torch, or what is made of the model
};

/// One tunable, one row of the catalogue. All that other modules know of a parameter they read from here.
struct ParamDef {
  std::string key;     ///< our name, as in config.yaml, --set and reports
  std::string target;  ///< the name handed to the runtime (session config key, provider option); may equal key
  ParamScope scope = ParamScope::session_option;
  ParamType type = ParamType::boolean;
  std::vector<std::string> providers;  ///< ExecutionProvider::id of each that has it; empty: every provider
  std::vector<Value> choices;  ///< every legal value (choice, boolean); for numbers: values worth trying, may be empty
  std::optional<double> minimum;  ///< inclusive, numbers only
  std::optional<double> maximum;
  std::optional<Value> default_value;  ///< what the runtime uses when it is unset; nullopt: depends on the machine
  std::string unit;                    ///< "", "us", "bytes"
  std::string since;                   ///< first runtime version that knows it ("1.19.0"); "": each that we can load
  std::string before;                  ///< first that knows it no more, or ""
  std::string summary;                 ///< one line: what it does
  std::string when;                    ///< when it matters
  std::string hazard;                  ///< what can go wrong
  bool any_engine = false;             ///< where `providers` is empty: also of those that are not ONNX Runtime's
  bool searched = true;                ///< false: only by --set or --space, never swept on its own
};

/// Whether the provider has it: where the row names none one of ONNX Runtime's, or of any engine.
[[nodiscard]] bool is_for(const ParamDef& param, std::string_view provider);

/// Whether a release has it. Releases before 1.17 are never loaded.
[[nodiscard]] inline bool is_known_to(const ParamDef& param, std::string_view version) {
  return in_range(version, {param.since, param.before});
}

/// Checks a value against type, choices and range; the message names the key, the value and what is legal.
[[nodiscard]] base::Result<void> check_value(const ParamDef& param, const Value& value);

/// Reads the text a person typed as this parameter's type.
[[nodiscard]] base::Result<Value> parse_value(const ParamDef& param, std::string_view text);

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::ParamType> {
  using enum schema::ParamType;
  static constexpr std::array names{std::pair{boolean, "boolean"}, std::pair{integer, "integer"},
                                    std::pair{number, "number"}, std::pair{choice, "choice"}, std::pair{text, "text"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::schema::ParamScope> {
  using enum schema::ParamScope;
  static constexpr std::array names{
      std::pair{session_option, "session option"},   std::pair{session_config, "session config"},
      std::pair{provider_option, "provider option"}, std::pair{arena_option, "arena option"},
      std::pair{run_option, "run option"},           std::pair{execution, "execution"},
      std::pair{torch_option, "torch option"}};
};
