// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::workload {

/// What was once found out about a large file, kept in a folder under the file's path, inode, size and times: a GPU
/// build of ONNX Runtime has 300 MB, which take a second to read in every run. Any change of the file is another entry.
class FileMemo {
 public:
  using Compute = std::function<base::Result<std::string>()>;
  /// An empty folder remembers nothing.
  explicit FileMemo(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `what` names the question. A folder that cannot be written is no error. Errors: those of `compute`.
  [[nodiscard]] base::Result<std::string> get(const std::filesystem::path& file, std::string_view what,
                                              const Compute& compute) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ridgeline::workload
