// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/words.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "report/messages/message_tables.hpp"
#include "search/messages.hpp"

namespace ridgeline::app {
namespace {

schema::Message legacy(const std::string& text) { return base::Json(text).get<schema::Message>(); }

TEST(Words, a_text_of_an_older_version_becomes_the_message_that_says_it) {
  const auto message = search::messages::nothing_to_share();
  const auto former = report::former_messages();
  const auto row = std::find_if(former.begin(), former.end(), [&](const auto& one) { return message.is(one.code); });
  ASSERT_NE(row, former.end());
  EXPECT_NE(words().text(message), row->text) << "it has other words now";
  EXPECT_EQ(read_text(legacy(std::string(row->text))), message);
}

TEST(Words, what_no_catalogue_says_stays_a_text) {
  const auto text = legacy("the cat sat on the keyboard of this machine");
  EXPECT_EQ(read_text(text), text);
}

}  // namespace
}  // namespace ridgeline::app
