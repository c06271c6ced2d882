// SPDX-License-Identifier: Apache-2.0
#include "monitor/csv_recorder.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "monitor/gpu_metrics.hpp"

namespace ridgeline::monitor {
namespace {

using base::ErrorCode;

std::string cell(const std::optional<double>& value, bool whole) {
  if (!value || !std::isfinite(*value)) return "";
  return whole ? fmt::format("{:.0f}", *value) : fmt::format("{:.3f}", *value);
}

std::string line_of(const Snapshot& snapshot, const GpuReading& gpu, bool is_gpu) {
  auto line = fmt::format("{},{:.3f},", snapshot.time_utc, snapshot.since_start_s);
  line += is_gpu ? fmt::format("{},{},{}", gpu.index, gpu.uuid, base::enum_name(gpu.state)) : ",,";
  for (const auto& metric : kGpuMetrics) line += "," + cell(gpu.*metric.member, metric.whole);
  line += ",";
  for (std::size_t i = 0; i < gpu.slowdown_reasons.size(); ++i) line += (i > 0 ? "+" : "") + gpu.slowdown_reasons[i];
  return line + "," + cell(snapshot.host.cpu_percent, false) + "," + cell(snapshot.host.memory_used_bytes, true) + "\n";
}

}  // namespace

std::string csv_header() {
  std::string header = "time_utc,since_start_s,gpu,uuid,state";
  for (const auto& metric : kGpuMetrics) header += fmt::format(",{}", metric.key);
  return header + ",slowdown_reasons,host_cpu_percent,host_memory_used_bytes\n";
}

std::string csv_lines(const Snapshot& snapshot) {
  std::string lines;
  for (const auto& gpu : snapshot.gpus) lines += line_of(snapshot, gpu, true);
  return snapshot.gpus.empty() ? line_of(snapshot, {}, false) : lines;
}

base::Result<CsvRecorder> CsvRecorder::open(const std::filesystem::path& path) {
  const auto header = csv_header();
  std::string first;
  bool torn = false;
  std::error_code unknown;
  if (std::filesystem::is_regular_file(path, unknown)) {  // a pipe or device has nothing to read
    std::ifstream there(path);
    first.resize(header.size());
    there.read(first.data(), static_cast<std::streamsize>(first.size()));
    first.resize(static_cast<std::size_t>(there.gcount()));
    there.clear();  // a file shorter than the header ended the reading
    torn = there.seekg(-1, std::ios::end) && there.peek() != '\n';
  }
  if (!header.starts_with(first))  // a power cut may have torn the header itself
    return base::fail(ErrorCode::invalid_argument, "--csv {}: the file is there and is no recording with these columns",
                      path.string())
        .hint("name another file");
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr)
    return base::fail(ErrorCode::io, "--csv {}: cannot write: {}; expected a file in a folder that is there",
                      path.string(), std::strerror(errno))
        .hint("name another");
  CsvRecorder recorder(path, file);
  auto missing = header.substr(first.size());
  if (missing.empty() && torn) missing = "\n";  // so that no record is lost with the torn one
  if (std::fputs(missing.c_str(), file) < 0 || std::fflush(file) != 0)
    return base::fail(ErrorCode::io, "--csv {}: cannot write: {}", path.string(), std::strerror(errno));
  return recorder;
}

base::Result<void> CsvRecorder::write(const Snapshot& snapshot) {
  if (std::fputs(csv_lines(snapshot).c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
    return base::fail(ErrorCode::io, "--csv {}: cannot write: {}", path_.string(), std::strerror(errno));
  return {};
}

}  // namespace ridgeline::monitor
