// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "schema/message.hpp"
#include "schema/quantity.hpp"

namespace ridgeline::schema {

/// What an argument of a message is: how it is stored, and how it is written where its placeholder names no style.
enum class ArgumentKind {
  text,      ///< foreign: a name, a path, the words of another program; as it is
  texts,     ///< "a, b and c"
  count,     ///< a whole number
  number,    ///< any other; three significant digits
  numbers,   ///< "1.5, 2 and 3"
  duration,  ///< nanoseconds; base::format_duration
  bytes,     ///< base::format_bytes
  share,     ///< 0.12: "12 %"
  ratio,     ///< 1.431: "1.43x"
  quantity,  ///< schema::Quantity: "12.34 ms"
  trial,     ///< the number of a trial: "trial 7"
  trials,    ///< numbers of trials: "trials 3 and 7"
  flag,      ///< true or false; only asked, never written
  choice,    ///< one of the words that the template lists
  message,   ///< another message
  messages,  ///< several, joined by "; "
};

struct MessageArgument {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::text;
};

/// A row of a catalogue. The syntax of templates stands in docs/messages.md.
struct MessageTemplate {
  std::string_view code;
  std::string_view text;
  std::string_view hint;  ///< what to do about it; "" where there is nothing to advise
  std::span<const MessageArgument> arguments;
  Severity severity = Severity::note;
};

using MessageTable = std::span<const MessageTemplate>;

}  // namespace ridgeline::schema
