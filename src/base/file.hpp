// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

struct stat;

namespace ridgeline::base {

/// The operating system's answer `error` (errno) to that verb: "cannot read /x: permission denied".
[[nodiscard]] Fault os_failure(std::string_view verb, const std::filesystem::path& path, int error);

/// The whole file as bytes. Errors: not_found, io (a directory, no permission), each naming the path and the reason.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);

/// Gives the open file `path` the owner and group of another: as far as the caller may, all of it for root. To be
/// called before the permissions are set, some of which a change of owner takes away.
[[nodiscard]] Result<void> keep_owner(int fd, const struct stat& old, const std::filesystem::path& path);

/// Replaces `path` in one step, as an AtomicFile does.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// XDG folders with "ridgeline" appended: state (results), cache, data. Created on demand by the caller.
[[nodiscard]] std::filesystem::path state_folder();
[[nodiscard]] std::filesystem::path cache_folder();

/// The program's path as a shell would find it in PATH; "" when there is none that may be executed.
[[nodiscard]] std::string find_program(const std::string& name);

/// The running executable's path.
[[nodiscard]] std::filesystem::path executable_path();

}  // namespace ridgeline::base
