// SPDX-License-Identifier: Apache-2.0
#include "watch/watch_state.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.hpp"

namespace ridgeline::watch {

using base::ErrorCode;
using base::fail;
using base::Result;

std::int64_t RetunePause::next_pause_s() const noexcept {
  return std::min(kLongestS, kFirstS << std::min(retunes, 20));
}

void RetunePause::after_retune(std::int64_t now) noexcept {
  not_before = now + next_pause_s();
  ++retunes;
}

void RetunePause::see(bool degraded, std::int64_t now) noexcept {
  if (degraded) {
    last_bad = now;
  } else if (last_bad != 0 && now - last_bad >= kLongestS) {
    *this = {};
  }
}

Result<WatchStateFile> WatchStateFile::open(std::filesystem::path path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return fail(ErrorCode::io, "state file {}: cannot create its folder: {}", path.string(), error.message())
        .hint("name another with --state");
  if (std::filesystem::is_directory(path, error))
    return fail(ErrorCode::io, "state file {}: is a folder", path.string()).hint("name a file with --state");
  const auto lock_path = path.string() + ".lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0)
    return fail(ErrorCode::io, "state file {}: cannot be written: {}", path.string(), std::strerror(errno))
        .hint("name another with --state");
  WatchStateFile file(std::move(path), lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::unavailable, "state file {}: another ridgeline watch uses it", file.path().string())
        .hint("stop that one, or name another with --state");
  return file;
}

WatchStateFile::WatchStateFile(WatchStateFile&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

WatchStateFile::~WatchStateFile() {
  if (lock_ >= 0) ::close(lock_);
}

WatchStateFile::Loaded WatchStateFile::load(const std::string& question) const {
  Loaded fresh;
  fresh.state.question = question;
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return fresh;
  const auto read = [&]() -> Result<WatchState> {
    RL_TRY_ASSIGN(const auto text, base::read_file(path_));
    RL_TRY_ASSIGN(const auto json, base::parse_json(text, path_.string()));
    return base::json_as<WatchState>(json, path_.string());
  };
  auto state = read();
  if (!state) {
    fresh.note = fmt::format("the earlier state cannot be read, so watching starts afresh: {}", state.error().message);
    return fresh;
  }
  if (state->question != question) {
    fresh.note = "the earlier state belongs to another baseline or source, so watching starts afresh";
    // Pauses between retunes are about the machine: another baseline, which a retune gives, must not end them.
    fresh.state.pause = state->pause;
    fresh.state.no_profile_before = state->no_profile_before;
    return fresh;
  }
  return {std::move(*state), true, ""};
}

Result<void> WatchStateFile::save(const WatchState& state) const {
  auto written = base::write_file_atomically(path_, base::dump_json(state) + "\n");
  if (!written) return tl::unexpected(std::move(written.error()).in("state file"));
  return {};
}

RL_DEFINE_JSON(RetunePause, retunes, not_before, last_bad)
RL_DEFINE_JSON(WatchState, question, drift, probes, learned, healthy, maybe_healthy, steady, calm_probes, failures,
               failing, change_told, suspects, pause, source, no_profile_before)

}  // namespace ridgeline::watch
