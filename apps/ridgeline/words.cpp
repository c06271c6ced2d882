// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/words.hpp"

#include <algorithm>
#include <vector>

#include "report/messages/message_reader.hpp"
#include "report/messages/message_tables.hpp"

namespace ridgeline::app {

const schema::MessageRenderer& words() {
  static const schema::MessageRenderer renderer(report::message_tables());
  return renderer;
}

schema::Message read_text(const schema::Message& legacy) {
  static const auto tables = [] {
    std::vector<schema::MessageTable> out;
    for (const auto& table : report::message_tables())
      if (!table.empty() && !table.front().code.starts_with("doctor.")) out.push_back(table);
    return out;
  }();
  static const schema::MessageRenderer renderer(tables);
  static report::MessageReader reader(renderer);
  auto found = reader.read(legacy.arguments().value("text", ""));
  const auto hint = legacy.arguments().value("hint", "");
  return hint.empty() || renderer.hint(found) == hint ? found : legacy;
}

}  // namespace ridgeline::app
