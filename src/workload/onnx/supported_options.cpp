// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/text.hpp"
#include "schema/catalog.hpp"
#include "workload/onnx/ort_library.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

/// A file mapped read-only.
class MappedFile {
 public:
  static base::Result<MappedFile> open(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return base::fail(ErrorCode::io, "cannot open {}: {}", path.string(), std::strerror(errno));
    struct stat status {};
    void* data = MAP_FAILED;
    if (::fstat(file, &status) == 0 && status.st_size > 0)
      data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    const int reason = errno;
    ::close(file);
    if (data == MAP_FAILED)
      return base::fail(ErrorCode::io, "cannot map {} ({} bytes): {}", path.string(), status.st_size,
                        std::strerror(reason));
    return MappedFile(static_cast<const char*>(data), static_cast<std::size_t>(status.st_size));
  }
  MappedFile(MappedFile&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }
  [[nodiscard]] std::string_view bytes() const noexcept { return {data_, size_}; }

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}
  const char* data_;
  std::size_t size_;
};

// Key constants end with NUL in the read-only data. Names share few stems ("session."), so the file is read once a stem
// rather than once a name.
void find_names(std::string_view bytes, const std::set<std::string>& wanted, std::set<std::string>& found) {
  std::set<std::string> stems;
  for (const auto& name : wanted)
    stems.insert(name.substr(0, name.find('.') == std::string::npos ? name.size() : name.find('.') + 1));
  for (const auto& stem : stems) {
    const char* at = bytes.data();
    const char* const end = bytes.data() + bytes.size();
    while (at < end) {
      const void* hit = ::memmem(at, static_cast<std::size_t>(end - at), stem.data(), stem.size());
      if (hit == nullptr) break;
      const char* start = static_cast<const char*>(hit);
      const auto length = ::strnlen(start, std::min<std::size_t>(static_cast<std::size_t>(end - start), 256));
      std::string name(start, length);
      if (wanted.count(name) != 0) found.insert(std::move(name));
      at = start + stem.size();
    }
  }
}

}  // namespace

base::Result<std::vector<std::string>> supported_options(const std::vector<std::filesystem::path>& files,
                                                         const FileMemo& memo) {
  std::set<std::string> found;
  std::set<std::string> wanted;
  for (const auto& param : schema::catalog()) {
    // Keys of the arena are compared in code, not all of them kept as text.
    const bool native = param.scope == schema::ParamScope::session_option ||
                        param.scope == schema::ParamScope::execution || param.scope == schema::ParamScope::arena_option;
    (native ? found : wanted).insert(param.target);
  }
  // Another catalogue asks for other names.
  const auto question = fmt::format("names {}", fmt::join(wanted, " "));
  for (const auto& file : files) {
    RL_TRY_ASSIGN(const auto names, memo.get(file, question, [&]() -> base::Result<std::string> {
      RL_TRY_ASSIGN(const auto mapped, MappedFile::open(file));
      std::set<std::string> in_file;
      find_names(mapped.bytes(), wanted, in_file);
      return fmt::format("{}", fmt::join(in_file, "\n"));
    }));
    for (auto& name : base::split(names, '\n'))
      if (!name.empty()) found.insert(std::move(name));
  }
  return std::vector<std::string>(found.begin(), found.end());
}

}  // namespace ridgeline::workload
