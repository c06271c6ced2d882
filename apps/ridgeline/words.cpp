// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/words.hpp"

#include "report/messages/message_tables.hpp"

namespace ridgeline::app {

const schema::MessageRenderer& words() {
  static const schema::MessageRenderer renderer(report::message_tables());
  return renderer;
}

}  // namespace ridgeline::app
