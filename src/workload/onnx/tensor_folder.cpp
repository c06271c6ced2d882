// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/tensor_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/file.hpp"
#include "workload/onnx/npy_file.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 128;  // file systems take 255 bytes for a whole name
constexpr int kFolderFileMode = 0666;

/// Whatever the system's word is: a run that goes on would lose the tensors of every frame.
base::Error io_error(std::string_view verb, const fs::path& path, int error) {
  base::Error out = base::os_failure(verb, path, error).value();
  out.code = base::ErrorCode::io;
  return out;
}

std::string file_part(const std::string& output) {
  const auto stays = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  };
  auto name = output.substr(0, kLongestName);
  for (char& c : name)
    if (!stays(c)) c = '_';
  return name.empty() ? "output" : name;
}

/// errno; 0: written.
int write_bytes(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

base::Result<TensorFolder> TensorFolder::create(const fs::path& folder, const std::vector<std::string>& outputs) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return tl::unexpected(io_error("create the folder", folder, error.value()));
  // For root everything seems to be allowed, also on a disk that is mounted read-only.
  auto probe = (folder / ".ridgeline-XXXXXX").string();
  const int fd = ::mkostemp(probe.data(), O_CLOEXEC);
  if (fd < 0) return tl::unexpected(io_error("create a file in", folder, errno));
  ::close(fd);
  ::unlink(probe.c_str());
  std::vector<std::string> names;
  for (const auto& output : outputs) {
    const auto part = file_part(output);
    auto name = part;
    for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number)
      name = fmt::format("{}-{}", part, number);
    names.push_back(std::move(name));
  }
  return TensorFolder(folder, std::move(names));
}

base::Result<void> TensorFolder::write(std::uint32_t source, std::uint64_t frame, std::size_t output, ElementType type,
                                       std::span<const std::int64_t> dims, std::string_view bytes) const {
  RL_TRY_ASSIGN(const auto header, npy_header(type, dims));
  const auto file = fmt::format("{}-{}.{}.npy", source, frame, names_[output]);
  const auto path = folder_ / file;
  const auto unfinished = folder_ / ("." + file);
  const int fd = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFolderFileMode);
  if (fd < 0) return tl::unexpected(io_error("write", path, errno));
  int error = write_bytes(fd, header);
  if (error == 0) error = write_bytes(fd, bytes);
  // A file system on a network tells only now what it could not write.
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(unfinished.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(unfinished.c_str());
  return tl::unexpected(io_error("write", path, error));
}

}  // namespace ridgeline::workload
