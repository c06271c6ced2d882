// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/value.hpp"

namespace ridgeline::schema {

/// Chosen values by parameter key. A key that is absent is left at the runtime's own default, so the empty
/// configuration is "the defaults". Equal configurations have equal canonical texts and hashes.
class Configuration {
 public:
  Configuration() = default;
  Configuration(std::initializer_list<std::pair<const std::string, Value>> values) : values_(values) {}

  [[nodiscard]] const std::map<std::string, Value>& values() const noexcept { return values_; }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] bool contains(const std::string& key) const { return values_.count(key) != 0; }
  /// nullptr when unset.
  [[nodiscard]] const Value* find(const std::string& key) const;
  [[nodiscard]] Value get_or(const std::string& key, Value fallback) const;

  void set(std::string key, Value value) { values_.insert_or_assign(std::move(key), std::move(value)); }
  void unset(const std::string& key) { values_.erase(key); }
  /// A copy with one value set.
  [[nodiscard]] Configuration with(std::string key, Value value) const;
  [[nodiscard]] Configuration without(const std::string& key) const;
  /// A copy in which `other`'s values win.
  [[nodiscard]] Configuration merged(const Configuration& other) const;

  /// Sorted compact JSON.
  [[nodiscard]] std::string canonical() const;
  /// The first 16 hex digits of the canonical text's SHA-256.
  [[nodiscard]] std::string hash() const;
  /// "intra_op_num_threads=4 execution_mode=parallel", or "defaults" when empty.
  [[nodiscard]] std::string to_text() const;

  friend bool operator==(const Configuration&, const Configuration&) = default;
  friend auto operator<=>(const Configuration&, const Configuration&) = default;
  friend void to_json(base::Json& out, const Configuration& configuration);
  friend void from_json(const base::Json& in, Configuration& configuration);

 private:
  std::map<std::string, Value> values_;
};

/// Keys whose values differ (an absent key differs from a present one), sorted.
[[nodiscard]] std::vector<std::string> differing_keys(const Configuration& a, const Configuration& b);

}  // namespace ridgeline::schema
