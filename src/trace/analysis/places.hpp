// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ridgeline::trace {

/// Time, or bytes, by place. Places that are alike (schema::module_class) count as one; Python lines each count.
class Places {
 public:
  struct Entry {
    std::string place;  ///< or what several share: "Block_#/aten::mm"
    std::int64_t amount = 0;
    std::int64_t count = 0;  ///< how often it was added to
  };

  void add(const std::string& place, std::int64_t amount);
  /// The same, of a place that counts alone however alike others are.
  void add_alone(const std::string& place, std::int64_t amount);
  /// At most so many.
  [[nodiscard]] std::vector<Entry> largest(std::size_t most) const;

 private:
  void add(const std::string& key, const std::string& place, std::int64_t amount);
  struct Sum {
    Entry entry;
    bool several = false;
  };
  std::map<std::string, Sum> by_class_;
};

}  // namespace ridgeline::trace
