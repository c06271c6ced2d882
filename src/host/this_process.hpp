// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/system_files.hpp"

// What the kernel says of this process.
namespace ridgeline::host {

[[nodiscard]] std::int64_t thread_count();
/// By the states of the threads: the process's CPU time counts what runs on another core only from tick to tick.
[[nodiscard]] bool another_thread_runs();

/// Children of the main thread; empty where the kernel does not list them. Quick: no look through all processes.
[[nodiscard]] std::vector<pid_t> children_of_main_thread();

/// Bytes from and to storage, those of its reaped children included.
struct StorageBytes {
  std::optional<std::int64_t> read;
  std::optional<std::int64_t> written;
};
[[nodiscard]] StorageBytes storage_bytes();

/// The files in the text of /proc/PID/maps, each once, sorted.
[[nodiscard]] std::vector<std::filesystem::path> files_of_maps(std::string_view maps);
/// Those that this process has mapped.
[[nodiscard]] std::vector<std::filesystem::path> mapped_files();

/// The path under which other processes of the user can open a descriptor of this one.
[[nodiscard]] std::string path_of_descriptor(int fd);

/// Whether it sees the host's processes by their own numbers: false in a container.
[[nodiscard]] bool sees_host_processes();

/// Signals that a process blocks and has been sent, bit n - 1 for signal n; 0 also if nobody knows.
[[nodiscard]] std::uint64_t pending_signals(const SystemFiles& files, pid_t pid);

/// The effective capabilities, bit n for capability n.
[[nodiscard]] std::uint64_t capabilities(const SystemFiles& files);

/// Returns free heap to the kernel and resets the high-water mark of resident memory. False where the kernel does not
/// allow it: the mark then covers the process's whole life.
bool reset_peak_rss() noexcept;

/// The high-water mark (VmHWM) of this process, or of another.
[[nodiscard]] std::optional<std::int64_t> peak_rss_bytes(pid_t pid = 0);

}  // namespace ridgeline::host
