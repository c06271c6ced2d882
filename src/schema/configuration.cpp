// SPDX-License-Identifier: Apache-2.0
#include "schema/configuration.hpp"

#include "base/hash.hpp"

namespace ridgeline::schema {

const Value* Configuration::find(const std::string& key) const {
  const auto at = values_.find(key);
  return at == values_.end() ? nullptr : &at->second;
}

Value Configuration::get_or(const std::string& key, Value fallback) const {
  const auto* value = find(key);
  return value != nullptr ? *value : std::move(fallback);
}

Configuration Configuration::with(std::string key, Value value) const {
  auto copy = *this;
  copy.set(std::move(key), std::move(value));
  return copy;
}

Configuration Configuration::without(const std::string& key) const {
  auto copy = *this;
  copy.unset(key);
  return copy;
}

Configuration Configuration::merged(const Configuration& other) const {
  auto copy = *this;
  for (const auto& [key, value] : other.values_) copy.set(key, value);
  return copy;
}

std::string Configuration::canonical() const { return base::dump_json(*this); }

std::string Configuration::hash() const { return base::sha256_hex(canonical()).substr(0, 16); }

std::string Configuration::to_text() const {
  if (values_.empty()) return "defaults";
  std::string text;
  for (const auto& [key, value] : values_)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value.to_text());
  return text;
}

void to_json(base::Json& out, const Configuration& configuration) {
  out = base::Json::object();
  for (const auto& [key, value] : configuration.values_) out[key] = value;
}

void from_json(const base::Json& in, Configuration& configuration) {
  configuration.values_ = in.get<std::map<std::string, Value>>();
}

std::vector<std::string> differing_keys(const Configuration& a, const Configuration& b) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : a.values()) {
    const auto* other = b.find(key);
    if (other == nullptr || *other != value) keys.push_back(key);
  }
  for (const auto& [key, value] : b.values())
    if (!a.contains(key)) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace ridgeline::schema
