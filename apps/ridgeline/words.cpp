// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/words.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "report/messages/message_reader.hpp"
#include "report/messages/message_tables.hpp"

namespace ridgeline::app {

namespace {

constexpr std::string_view kPseudo = "pseudo";

std::string_view language() {
  const auto* set = std::getenv(kLanguageVariable);
  return set == nullptr ? std::string_view() : std::string_view(set);
}

std::string in_brackets(std::string text) { return "\u27e6" + text + "\u27e7"; }

}  // namespace

base::Result<void> check_language() {
  if (language().empty() || language() == "en" || language() == kPseudo) return {};
  return base::fail(base::ErrorCode::invalid_argument, "{}={}: expected en, or pseudo", kLanguageVariable, language())
      .hint("unset it");
}

const schema::MessageRenderer& words() {
  static const schema::MessageRenderer renderer(
      report::message_tables(), language() == kPseudo ? schema::MessageRenderer::Decorator(in_brackets) : nullptr);
  return renderer;
}

schema::Message read_text(const schema::Message& legacy) {
  static const schema::MessageRenderer renderer([] {
    const auto present = report::message_tables();
    std::vector<schema::MessageTable> tables(present.begin(), present.end());
    tables.push_back(report::former_messages());
    return tables;
  }());
  static report::MessageReader reader(renderer);
  auto found = reader.read(legacy.arguments().value("text", ""));
  const auto hint = legacy.arguments().value("hint", "");
  return hint.empty() || renderer.hint(found) == hint ? found : legacy;
}

}  // namespace ridgeline::app
