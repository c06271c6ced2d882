// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/message_renderer.hpp"
#include "schema/template_parts.hpp"

namespace ridgeline::report {

/// Finds out which message a sentence of an older version was, by the catalogues of what records hold: the way back
/// from schema::MessageRenderer::text.
class MessageReader {
 public:
  /// The renderer outlives it, and decorates nothing.
  explicit MessageReader(const schema::MessageRenderer& renderer);

  /// The one message that is rendered as exactly this text, with the values as the text has them (a duration of
  /// "1.23 ms" is 1.23e6 ns). kLegacy, which carries the text, where none is, or where two sentences fit equally well.
  /// What it was asked before it knows, so that many records of few sentences take no time.
  [[nodiscard]] schema::Message read(const std::string& text);

 private:
  struct Row {
    const schema::MessageTemplate* row = nullptr;
    std::vector<schema::TemplatePart> parts;
    std::string_view begin;  ///< what its texts begin with, as far as that is the same for all; in the template
    std::string_view end;    ///< the same of their end
  };
  [[nodiscard]] schema::Message read_new(const std::string& text);
  /// A message and, behind "; ", a sentence without values, as notes were written with what to do about them: otherwise
  /// that would belong to the last value.
  [[nodiscard]] std::optional<schema::Message> with_fixed_end(const std::string& text);

  const schema::MessageRenderer& renderer_;
  std::vector<Row> rows_;
  std::set<std::string, std::less<>> fixed_;  ///< sentences without values
  std::map<std::string, schema::Message, std::less<>> known_;
  int depth_ = 0;         ///< of messages within messages
  int reads_left_ = 0;    ///< for the text that was asked for
  bool cut_off_ = false;  ///< something was not read since the flag was cleared
};

}  // namespace ridgeline::report
