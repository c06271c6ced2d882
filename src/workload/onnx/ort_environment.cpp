// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_environment.hpp"

#include <cstdlib>
#include <deque>
#include <mutex>

#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

/// ONNX Runtime has one environment and one logger a process, whichever caller came first, so the log is one a process
/// too.
class Log {
 public:
  void add(const char* text) {
    auto line = shorten_ort_message(text != nullptr ? text : "");
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    ++added_;
    if (lines_.size() > kKept) lines_.pop_front();
  }
  [[nodiscard]] std::uint64_t position() const {
    const std::lock_guard lock(mutex_);
    return added_;
  }
  [[nodiscard]] std::vector<std::string> since(std::uint64_t position) const {
    const std::lock_guard lock(mutex_);
    const auto wanted = std::min<std::uint64_t>(added_ - position, lines_.size());
    return {lines_.end() - static_cast<std::ptrdiff_t>(wanted), lines_.end()};
  }

 private:
  static constexpr std::size_t kKept = 16;
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
  std::uint64_t added_ = 0;
};

Log& process_log() {
  static auto* log = new Log;  // never destroyed: the runtime's threads may log while the process ends
  return *log;
}

void ORT_API_CALL write_log(void*, OrtLoggingLevel, const char*, const char*, const char*, const char* message) {
  process_log().add(message);
}

}  // namespace

base::Result<std::unique_ptr<OrtEnvironment>> OrtEnvironment::create(OrtLibrary library) {
  const auto start = process_log().position();
  OrtEnv* env = nullptr;
  const auto& api = library.api();
  // A runtime that reports usage to its vendor must not do so from a benchmark. Since 1.29 it starts a thread with the
  // environment on Linux too, writes files into TMPDIR and sends what the call below comes too late for.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 0);
  RL_TRY(check_ort(api, api.CreateEnvWithCustomLogger(write_log, nullptr, ORT_LOGGING_LEVEL_ERROR, "ridgeline", &env)));
  RL_TRY(check_ort(api, api.DisableTelemetryEvents(env)));
  return std::unique_ptr<OrtEnvironment>(new OrtEnvironment(std::move(library), env, start));
}

OrtEnvironment::~OrtEnvironment() { api().ReleaseEnv(env_); }

std::vector<std::string> OrtEnvironment::log_lines() const { return process_log().since(log_start_); }

std::uint64_t OrtEnvironment::log_position() { return process_log().position(); }

std::string OrtEnvironment::last_line_since(std::uint64_t position) {
  const auto lines = process_log().since(position);
  return lines.empty() ? std::string() : lines.back();
}

base::Error OrtEnvironment::with_log(base::Error error) const {
  const auto lines = log_lines();
  if (lines.empty() || lines.back().empty()) return error;
  const auto& line = lines.back();
  constexpr std::size_t kCompared = 60;  // the status repeats the logged text, but both may be cut at different ends
  if (error.message.find(line.substr(0, kCompared)) != std::string::npos) return error;
  const auto said = error.message.substr(0, kCompared + std::string_view("onnxruntime: ").size());
  if (line.find(said.substr(std::min(said.size(), std::string_view("onnxruntime: ").size()))) != std::string::npos)
    return error;
  error.message += "; the runtime logged: " + line;
  return error;
}

}  // namespace ridgeline::workload
