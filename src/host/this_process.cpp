// SPDX-License-Identifier: Apache-2.0
#include "host/this_process.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "host/processes.hpp"

namespace ridgeline::host {
namespace {

/// "123 kB" and plain numbers of a file of lines "key: value".
std::optional<std::int64_t> own_number(const char* path, std::string_view key) {
  const auto value = SystemFiles().field(path, key);
  if (!value) return std::nullopt;
  const auto number = base::parse_integer(base::split(*value, ' ').front(), key);
  return number ? std::optional(*number) : std::nullopt;
}

}  // namespace

std::int64_t thread_count() { return static_cast<std::int64_t>(Processes::own_threads().all().size()); }

bool another_thread_runs() {
  const auto threads = Processes::own_threads();
  const auto all = threads.all();
  return std::any_of(all.begin(), all.end(), [&](pid_t thread) {
    if (thread == ::gettid()) return false;
    const auto stat = threads.stat(thread);
    return stat && stat->state == 'R';
  });
}

std::vector<pid_t> children_of_main_thread() {
  static const std::string path = fmt::format("/proc/self/task/{}/children", ::getpid());
  std::vector<pid_t> out;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  std::array<char, 4096> text;
  const auto got = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (got <= 0) return out;
  text[static_cast<std::size_t>(got)] = '\0';
  for (char* at = text.data();;) {
    char* end = nullptr;
    const auto pid = std::strtol(at, &end, 10);
    if (end == at || *end == '\0') return out;  // the last number may be cut
    out.push_back(static_cast<pid_t>(pid));
    at = end;
  }
}

StorageBytes storage_bytes() {
  return {own_number("proc/self/io", "read_bytes"), own_number("proc/self/io", "write_bytes")};
}

std::vector<std::filesystem::path> files_of_maps(std::string_view maps) {
  std::set<std::filesystem::path> files;
  for (const auto& line : base::split(maps, '\n'))
    if (const auto at = line.find('/'); at != std::string::npos) files.insert(line.substr(at));
  return {files.begin(), files.end()};
}

std::vector<std::filesystem::path> mapped_files() {
  return files_of_maps(base::read_file("/proc/self/maps").value_or(""));
}

std::string path_of_descriptor(int fd) { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd); }

bool sees_host_processes() {
  constexpr ino_t kHostProcessNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO of the kernel
  struct stat own {};
  return ::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == kHostProcessNamespace;
}

std::uint64_t pending_signals(const SystemFiles& files, pid_t pid) {
  constexpr int kHexadecimal = 16;
  const auto path = fmt::format("proc/{}/status", pid);
  return std::strtoull(files.field(path.c_str(), "ShdPnd").value_or("0").c_str(), nullptr, kHexadecimal);
}

std::uint64_t capabilities(const SystemFiles& files) {
  return std::strtoull(files.field("proc/self/status", "CapEff").value_or("0").c_str(), nullptr, 16);
}

bool reset_peak_rss() noexcept {
  ::malloc_trim(0);
  const int fd = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, "5", 1) == 1;
  ::close(fd);
  return done;
}

std::optional<std::int64_t> peak_rss_bytes(pid_t pid) {
  const auto path = pid > 0 ? fmt::format("proc/{}/status", pid) : std::string("proc/self/status");
  const auto kib = own_number(path.c_str(), "VmHWM");
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

}  // namespace ridgeline::host
