// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "config/yaml_tree.hpp"
#include "schema/param_def.hpp"

namespace ridgeline::config {

/// "${BATCH}", "{{ batch }}", "<% batch %>", "$(batch)": a value once another program has filled it in.
[[nodiscard]] bool is_template(std::string_view text);

/// Reads a scalar of the file as this parameter's type. Beyond `schema::parse_value`: YAML's booleans (yes, On, y),
/// 0x10, 1_000, the runtime's own spellings (ORT_PARALLEL, ExecutionMode.ORT_PARALLEL, 99), and true and false for the
/// choices "default" and "off". nullopt: null, unset.
/// Errors (invalid_argument) start with "file:line:column: ".
[[nodiscard]] base::Result<std::optional<schema::Value>> read_setting(const schema::ParamDef& param,
                                                                      const YamlTree& tree, int index,
                                                                      std::string_view file_name);

/// Whether readers have to get `spelled` as a text: `off` is a boolean to YAML 1.1, the runtime's 99 is a number.
[[nodiscard]] bool must_be_text(const schema::ParamDef& param, std::string_view spelled);

/// The value in the spelling family of the text it replaces: yes/no, ORT_ names, upper case ...
[[nodiscard]] std::string spell_like(const schema::ParamDef& param, const schema::Value& value,
                                     std::string_view old_text);

/// A scalar's source text and what a YAML reader gets from it.
struct ScalarText {
  std::string source;
  ScalarStyle style = ScalarStyle::plain;
};

/// Quotes `text` in the wanted style, or in the nearest one that can hold it. `as_text`: readers must get text, so that
/// plain digits are quoted. `flow`: inside {} or [].
[[nodiscard]] ScalarText quote(std::string_view text, ScalarStyle wanted, bool as_text, bool flow);

}  // namespace ridgeline::config
