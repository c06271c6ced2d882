// SPDX-License-Identifier: Apache-2.0
#include "execute/memory_usage.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace ridgeline::execute {
namespace {

/// Small files of the kernel only.
std::string read_small_file(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text(8192, '\0');
  const auto got = ::read(fd, text.data(), text.size());
  ::close(fd);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

/// The number after `label` at the start of a line.
std::optional<std::int64_t> labelled_number(const std::string& text, std::string_view label) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.compare(at, label.size(), label) == 0) return std::strtoll(text.c_str() + at + label.size(), nullptr, 10);
    at = text.find('\n', at);
    if (at == std::string::npos) break;
    ++at;
  }
  return std::nullopt;
}

}  // namespace

bool reset_peak_rss() noexcept {
  ::malloc_trim(0);
  const int fd = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, "5", 1) == 1;
  ::close(fd);
  return done;
}

std::optional<std::int64_t> peak_rss_bytes() {
  const auto kib = labelled_number(read_small_file("/proc/self/status"), "VmHWM:");
  if (!kib) return std::nullopt;
  return *kib * 1024;
}

std::optional<std::int64_t> oom_kills(const std::string& root) {
  const auto read = [&](const std::string& path, std::string_view label) {
    return labelled_number(read_small_file((root + path).c_str()), label);
  };
  const auto own = read_small_file((root + "/proc/self/cgroup").c_str());
  // "0::/group" is of version 2, "4:memory:/group" of version 1. In a container the group's own folder may not be
  // there.
  const auto group = [&](std::string_view sign) -> std::optional<std::string> {
    const auto at = own.find(sign);
    if (at == std::string::npos) return std::nullopt;
    const auto begin = at + sign.size() - 1;
    const auto folder = own.substr(begin, std::min(own.find('\n', begin), own.size()) - begin);
    return folder == "/" ? "" : folder;
  };
  if (const auto folder = group("0::/"))
    if (auto count = read("/sys/fs/cgroup" + *folder + "/memory.events", "oom_kill ")) return count;
  if (auto count = read("/sys/fs/cgroup/memory.events", "oom_kill ")) return count;
  if (const auto folder = group(":memory:/"))
    if (auto count = read("/sys/fs/cgroup/memory" + *folder + "/memory.oom_control", "oom_kill ")) return count;
  if (auto count = read("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill ")) return count;
  return read("/proc/vmstat", "oom_kill ");
}

}  // namespace ridgeline::execute
