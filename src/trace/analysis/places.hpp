// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ridgeline::trace {

/// Time by place. Places that are alike (schema::module_class) count as one; Python lines each count.
class Places {
 public:
  struct Entry {
    std::string place;  ///< or what several share: "Block_#/aten::mm"
    std::int64_t ns = 0;
    std::int64_t count = 0;
  };

  void add(const std::string& place, std::int64_t ns);
  /// The longest first, at most so many.
  [[nodiscard]] std::vector<Entry> longest(std::size_t most) const;

 private:
  struct Sum {
    Entry entry;
    bool several = false;
  };
  std::map<std::string, Sum> by_class_;
};

}  // namespace ridgeline::trace
