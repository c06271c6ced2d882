// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "trace/import/sqlite_table.hpp"

namespace ridgeline::trace {

/// The tables of an export of Nsight Systems, whose names may carry a version (NVTX_EVENTS_V2), and which of them were
/// read.
class NsysTables {
 public:
  /// `file` must outlive the object. Errors: corrupt.
  [[nodiscard]] static base::Result<NsysTables> of(const SqliteFile& file);

  /// The versions of a table that have rows, the newest first; they count as read from now on. Errors: corrupt.
  [[nodiscard]] base::Result<std::vector<std::string>> versions(const std::string& base);
  /// "NAME (12 rows)" of each table that has rows of GPU work and was not read. Errors: corrupt.
  [[nodiscard]] base::Result<std::vector<std::string>> unread() const;

 private:
  NsysTables(const SqliteFile& file, std::vector<std::string> names) : file_(&file), names_(std::move(names)) {}
  [[nodiscard]] bool is_work(const std::string& name) const;

  const SqliteFile* file_;
  std::vector<std::string> names_;
  std::set<std::string> read_;
};

}  // namespace ridgeline::trace
