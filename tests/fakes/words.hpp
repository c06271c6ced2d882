// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/messages/message_tables.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"

namespace ridgeline::fakes {

/// The renderer of the program.
inline const schema::MessageRenderer& words() {
  static const schema::MessageRenderer renderer(report::message_tables());
  return renderer;
}

inline std::string text_of(const schema::Message& message) { return words().text(message); }
inline std::vector<std::string> texts_of(const std::vector<schema::Message>& messages) {
  return words().texts(messages);
}

/// A message that says just that.
inline schema::Message legacy(const std::string& text, const std::string& hint = {}) {
  return schema::messages::legacy({.text = text, .hint = hint});
}

}  // namespace ridgeline::fakes
