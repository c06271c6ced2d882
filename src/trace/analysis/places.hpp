// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ridgeline::trace {

/// Time, or bytes, by place, where places that are alike (schema::module_class) count as one.
class Places {
 public:
  void add(const std::string& place, std::int64_t amount);
  /// The same, of a place that counts alone however alike others are: a line of code.
  void add_alone(const std::string& place, std::int64_t amount);
  /// The longest first, at most so many: the place itself, or what several share ("Block_#/aten::mm").
  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> longest(std::size_t most) const;

  struct Total {
    std::string place;
    std::int64_t amount = 0;
    std::int64_t count = 0;  ///< how often it was added to
  };
  /// The same with counts, the largest first.
  [[nodiscard]] std::vector<Total> largest(std::size_t most) const;

 private:
  void add(const std::string& key, const std::string& place, std::int64_t amount);
  struct Sum {
    std::string first;
    bool several = false;
    std::int64_t amount = 0;
    std::int64_t count = 0;
  };
  std::map<std::string, Sum> by_class_;
};

}  // namespace ridgeline::trace
