// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ridgeline::trace {

/// Time by place, where places that are alike (schema::module_class) count as one.
class Places {
 public:
  void add(const std::string& place, std::int64_t ns);
  /// The longest first, at most so many: the place itself, or what several share ("Block_#/aten::mm").
  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> longest(std::size_t most) const;

 private:
  struct Sum {
    std::string first;
    bool several = false;
    std::int64_t ns = 0;
  };
  std::map<std::string, Sum> by_class_;
};

}  // namespace ridgeline::trace
