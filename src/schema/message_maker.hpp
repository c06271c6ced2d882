// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "schema/message.hpp"

namespace ridgeline::schema {

/// What the constructors made of a catalogue (scripts/make_messages.py) build their messages with. Nothing else
/// includes this: prose has no way into a record.
class MessageMaker {
 public:
  MessageMaker(std::string_view code, Severity severity) {
    message_.code_ = code;
    message_.severity_ = severity;
  }

  template <typename T>
  [[nodiscard]] MessageMaker&& with(const char* name, const T& value) && {
    message_.arguments_[name] = value;
    return std::move(*this);
  }
  /// An infinite number is text: JSON has no form for it.
  [[nodiscard]] MessageMaker&& with(const char* name, double value) && {
    message_.arguments_[name] = std::isfinite(value) ? base::Json(value) : base::Json(fmt::format("{}", value));
    return std::move(*this);
  }
  /// An absent value is left out.
  template <typename T>
  [[nodiscard]] MessageMaker&& with(const char* name, const std::optional<T>& value) && {
    return value ? std::move(*this).with(name, *value) : std::move(*this);
  }
  [[nodiscard]] MessageMaker&& with(const char* name, const Message& value) && {
    if (!value.empty()) message_.arguments_[name] = value;
    return std::move(*this);
  }
  [[nodiscard]] Message take() && { return std::move(message_); }

 private:
  Message message_;
};

}  // namespace ridgeline::schema
