// SPDX-License-Identifier: Apache-2.0
#include "watch/latency_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace ridgeline::watch {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t kLongestLine = 64 * 1024;  // beyond it the bytes are no lines
constexpr std::size_t kPiece = 256 * 1024;
constexpr std::string_view kTruncated = "was truncated since the last look; lines written before that may be missing";

bool is_compressed(const std::string& name) {
  constexpr std::string_view kSuffixes[] = {".gz", ".bz2", ".xz", ".zst", ".lz4", ".Z"};
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](auto suffix) { return name.ends_with(suffix); });
}

/// When it was created, ns; 0 where the file system does not tell. The number of a removed file is soon another one's.
std::int64_t birth_of(int file) {
  struct statx found {};
  if (::statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &found) != 0 || (found.stx_mask & STATX_BTIME) == 0) return 0;
  return std::int64_t{found.stx_btime.tv_sec} * 1'000'000'000 + found.stx_btime.tv_nsec;
}

/// States of earlier versions hold none.
bool may_be_same(std::int64_t born, std::int64_t other) { return born == 0 || other == 0 || born == other; }

/// X.1, X-20260101: what rotation makes of X, compressed or not.
bool is_rotated_name(std::string_view name, std::string_view of) {
  return name.size() > of.size() + 1 && name.starts_with(of) && (name[of.size()] == '.' || name[of.size()] == '-') &&
         std::isdigit(static_cast<unsigned char>(name[of.size() + 1])) != 0;
}

/// Regular files beside the one that `path` leads to, through links; none where the folder cannot be listed.
template <typename Seen>
void for_each_beside(const std::filesystem::path& path, Seen seen) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  if (failed) return;
  std::filesystem::directory_iterator entry(real.parent_path(), failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    struct stat found {};
    if (::lstat(entry->path().c_str(), &found) == 0 && S_ISREG(found.st_mode)) seen(real, entry->path(), found);
  }
}

}  // namespace

LatencyFile::LatencyFile(LatencyFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      inode_(other.inode_),
      born_(other.born_),
      offset_(other.offset_),
      begun_(std::move(other.begun_)),
      note_(std::move(other.note_)) {}

LatencyFile::~LatencyFile() {
  if (file_ >= 0) ::close(file_);
}

Result<void> LatencyFile::reopen() {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat found {};
  if (file < 0 || ::fstat(file, &found) != 0) {
    const int reason = errno;
    if (file >= 0) ::close(file);
    return fail(reason == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                "latency file {}: cannot be read: {}; expected the file that the service appends its latencies to",
                path_.string(), std::strerror(reason))
        .hint("make it, or name another with --latency-file FILE");
  }
  if (!S_ISREG(found.st_mode)) {
    ::close(file);
    return fail(ErrorCode::io, "latency file {}: is no regular file", path_.string())
        .hint("for a socket use --latency-socket");
  }
  if (file_ >= 0) ::close(file_);
  file_ = file;
  inode_ = found.st_ino;
  born_ = birth_of(file);
  offset_ = 0;
  begun_.clear();
  return {};
}

Result<LatencyFile> LatencyFile::open(std::filesystem::path path, const base::Json& position) {
  LatencyFile file(std::move(path));
  RL_TRY(file.reopen());
  struct stat found {};
  if (::fstat(file.file_, &found) != 0) found.st_size = 0;
  file.offset_ = found.st_size;
  if (!position.is_object()) return file;
  const auto offset = position.value("offset", std::int64_t{0});
  const auto inode = position.value("inode", std::uint64_t{0});
  const auto born = position.value("born", std::int64_t{0});
  const bool same = inode == file.inode_ && may_be_same(born, file.born_);
  if (same && offset >= 0 && offset <= found.st_size) {
    file.offset_ = offset;
    return file;
  }
  if (!same && file.go_on_in_renamed(inode, born, offset)) return file;
  // All of it was written since.
  file.offset_ = 0;
  file.note_loss(same ? kTruncated
                      : "is another file than at the last look, which is not beside it (uncompressed) any more; lines "
                        "written before the rotation may be missing");
  return file;
}

bool LatencyFile::go_on_in_renamed(std::uint64_t inode, std::int64_t born, std::int64_t offset) {
  std::filesystem::path renamed;
  for_each_beside(path_, [&](const auto& present, const auto& other, const struct stat& found) {
    // The name, too, for file systems that tell no birth. Not the device: a restart of the machine may change its
    // number.
    const auto name = other.filename().string();
    if (found.st_ino == inode && name.starts_with(present.stem().string()) && !is_compressed(name)) renamed = other;
  });
  if (renamed.empty()) return false;
  const int file = ::open(renamed.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  struct stat found {};
  if (file < 0 || ::fstat(file, &found) != 0 || found.st_ino != inode || !may_be_same(born, birth_of(file)) ||
      offset < 0 || offset > found.st_size) {
    if (file >= 0) ::close(file);
    return false;
  }
  ::close(file_);
  file_ = file;
  inode_ = inode;
  born_ = birth_of(file);
  offset_ = offset;
  return true;
}

/// Whether a file lies beside it that was rotated after the one that is being read.
bool LatencyFile::rotated_more_than_once() const {
  struct stat mine {};
  if (::fstat(file_, &mine) != 0) return false;
  const auto nanoseconds = [](const struct stat& of) { return of.st_mtim.tv_sec * 1'000'000'000 + of.st_mtim.tv_nsec; };
  bool more = false;
  for_each_beside(path_, [&](const auto& present, const auto& other, const struct stat& found) {
    more = more || (found.st_ino != inode_ && found.st_size > 0 && nanoseconds(found) > nanoseconds(mine) &&
                    is_rotated_name(other.filename().string(), present.filename().string()));
  });
  return more;
}

void LatencyFile::note_loss(std::string_view what) { note_ = fmt::format("latency file {}: {}", path_.string(), what); }

Result<void> LatencyFile::read_to_end(LatencyWindow& window) {
  std::vector<char> piece(kPiece);
  for (;;) {
    const auto count = ::pread(file_, piece.data(), piece.size(), offset_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail(ErrorCode::io, "latency file {}: cannot be read: {}", path_.string(), std::strerror(errno));
    if (count == 0) return {};
    offset_ += count;
    std::string_view rest(piece.data(), static_cast<std::size_t>(count));
    for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      begun_.append(rest.substr(0, end));
      window.add_line(begun_);
      begun_.clear();
      rest.remove_prefix(end + 1);
    }
    begun_.append(rest);
    if (begun_.size() > kLongestLine) begun_.clear();
  }
}

Result<void> LatencyFile::read(LatencyWindow& window) {
  if (file_ >= 0) {
    struct stat mine {};
    if (::fstat(file_, &mine) == 0 && mine.st_size < offset_) {  // truncated in place
      offset_ = 0;
      begun_.clear();
      note_loss(kTruncated);
    }
    RL_TRY(read_to_end(window));
  }
  struct stat named {};
  const bool there = ::stat(path_.c_str(), &named) == 0;
  if (there && file_ >= 0 && named.st_ino == inode_) return {};
  // Renamed away; a new one may not have been begun yet.
  const bool more = there && file_ >= 0 && rotated_more_than_once();
  RL_TRY(reopen());
  if (more) note_loss("was rotated more than once since the last look; lines of the files in between may be missing");
  return read_to_end(window);
}

base::Json LatencyFile::position() const {
  return {{"inode", inode_}, {"born", born_}, {"offset", offset_ - static_cast<std::int64_t>(begun_.size())}};
}

}  // namespace ridgeline::watch
