// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ridgeline::torch_plugin {

/// ", did you mean \"x\"?" for a likely typo, else "".
[[nodiscard]] std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);
/// "a, b, c"
[[nodiscard]] std::string listed(const std::vector<std::string>& names);
/// "3x224x224"
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

/// The product of the lengths; 1 for none.
[[nodiscard]] std::int64_t elements(const std::vector<std::int64_t>& shape);

/// The request's options: names and texts. All functions refuse what they cannot read, naming option, value and range.
class Options {
 public:
  /// An object whose values are strings, as {"depth": "3"}; "" is the empty object.
  static Options parse(const std::string& json);

  [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) != 0; }
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;
  [[nodiscard]] std::int64_t whole(const std::string& name, std::int64_t otherwise, std::int64_t low,
                                   std::int64_t high) const;
  [[nodiscard]] double number(const std::string& name, double otherwise, double low, double high) const;
  /// on or off
  [[nodiscard]] bool flag(const std::string& name, bool otherwise) const;
  /// "3x224x224"
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& name,
                                                const std::vector<std::int64_t>& otherwise) const;
  /// Refuses options that nothing reads.
  void check_names(const std::vector<std::string>& known, const std::string& model) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace ridgeline::torch_plugin
