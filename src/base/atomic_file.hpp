// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::base {

/// A file that replaces another in one step: what is written goes to a temporary file beside it, which commit()
/// renames. The old file's owner and permissions are kept. A symbolic link is followed: its target is replaced, the
/// link stays. A mount point is written in place. Without a commit (an error, a full disk) the old file is untouched
/// and the temporary one is removed.
class AtomicFile {
 public:
  /// Errors: not_found (the folder), io; each names the path.
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Behind what was written before. Errors: io.
  [[nodiscard]] Result<void> write(std::string_view bytes);
  /// Flushes to the disk, renames, and flushes the folder. Errors: io. To be called once, as the last.
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFile() = default;
  [[nodiscard]] Result<void> take_permissions() const;

  std::filesystem::path target_;
  std::filesystem::path folder_;
  std::string temporary_;  ///< "" once renamed
  int fd_ = -1;
};

}  // namespace ridgeline::base
