// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schema/sweep.hpp"

namespace ridgeline::campaign {

/// Tells whether the files that a command rests on are still what they were. Remembers what it has read, so that asking
/// again costs one stat. Not thread-safe.
class SweepFiles {
 public:
  /// Content up to this size is hashed; of larger files size and modification time count.
  static constexpr std::int64_t kLargestHashed = std::int64_t{64} << 20U;

  /// The program (looked up in PATH), every argument that names a regular file, also behind a "=", and
  /// spec.job.depends, as they are now; paths relative to spec.job.directory.
  [[nodiscard]] std::vector<schema::SweepFile> named_by(const schema::SweepTrialSpec& spec);

  /// Those of `before` that are the same now.
  [[nodiscard]] std::vector<schema::SweepFile> unchanged(std::vector<schema::SweepFile> before);

 private:
  struct Known {
    std::int64_t size = 0;
    std::int64_t mtime_ns = 0;
    std::string fingerprint;
  };
  /// "" when there is no such regular file.
  [[nodiscard]] std::string fingerprint(const std::string& path);

  std::map<std::string, Known> known_;
};

}  // namespace ridgeline::campaign
