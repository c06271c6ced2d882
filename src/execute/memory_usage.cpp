// SPDX-License-Identifier: Apache-2.0
#include "execute/memory_usage.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

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

std::optional<std::int64_t> oom_kills() {
  const auto own = read_small_file("/proc/self/cgroup");
  if (const auto at = own.find("0::/"); at != std::string::npos) {
    const auto end = own.find('\n', at);
    const auto folder = own.substr(at + 3, end == std::string::npos ? end : end - at - 3);
    const auto path = "/sys/fs/cgroup" + folder + (folder.back() == '/' ? "" : "/") + "memory.events";
    if (auto count = labelled_number(read_small_file(path.c_str()), "oom_kill ")) return count;
  }
  return labelled_number(read_small_file("/sys/fs/cgroup/memory.events"), "oom_kill ");
}

}  // namespace ridgeline::execute
