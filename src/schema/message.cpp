// SPDX-License-Identifier: Apache-2.0
#include "schema/message.hpp"

#include "schema/messages.hpp"

namespace ridgeline::schema {

void to_json(base::Json& json, const Message& message) {
  if (message.empty()) {
    json = nullptr;
    return;
  }
  json = {{"code", message.code()}, {"arguments", message.arguments()}, {"severity", message.severity()}};
}

void from_json(const base::Json& json, Message& message) {
  message = {};
  if (json.is_null()) return;
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (!text.empty()) message = messages::legacy({.text = text, .hint = {}});
    return;
  }
  message.code_ = json.at("code").get<std::string>();
  message.arguments_ = json.value("arguments", base::Json::object());
  message.severity_ = json.value("severity", Severity::note);
}

}  // namespace ridgeline::schema
