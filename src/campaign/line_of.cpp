// SPDX-License-Identifier: Apache-2.0
#include "campaign/line_of.hpp"

#include <array>

#include "analysis/messages.hpp"
#include "campaign/messages.hpp"
#include "execute/messages.hpp"
#include "measure/messages.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"
#include "search/messages.hpp"
#include "workload/messages.hpp"

namespace ridgeline::campaign {

namespace {

const schema::MessageRenderer& words_below() {
  static const std::array tables{
      schema::messages::table(),   execute::messages::table(), measure::messages::table(), workload::messages::table(),
      analysis::messages::table(), search::messages::table(),  messages::table()};
  static const schema::MessageRenderer words(tables);
  return words;
}

}  // namespace

std::string line_of(const schema::Message& message) { return words_below().line(message); }
bool advises(const schema::Message& message) { return !words_below().hint(message).empty(); }

}  // namespace ridgeline::campaign
