// SPDX-License-Identifier: Apache-2.0
#include "execute/frame_line.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/json.hpp"

namespace ridgeline::execute {
namespace {

constexpr std::string_view kBegin = R"({"source":)";

}  // namespace

std::string frame_line(const stream::FrameOutput& output, const stream::FrameLabel& label) {
  const auto& [frame, dropped, batch, launched_ns, done_ns, left_ns] = output.frame;
  auto line =
      fmt::format(R"({}{},"frame":{},{}"pts_ms":{:.3f},"latency_ms":{:.3f},)", kBegin, frame.source, frame.sequence,
                  label.file.empty() ? std::string() : fmt::format(R"("file":{},)", base::dump_json(label.file)),
                  static_cast<double>(frame.pts_ns) * 1e-6, static_cast<double>(left_ns - frame.intended_ns) * 1e-6);
  const auto& error = output.error.empty() ? label.damage : output.error;
  if (!dropped)
    line += fmt::format(R"("result":{}}})", output.result);
  else if (error.empty())
    line += fmt::format(R"("dropped":"{}"}})", to_string(*dropped));
  else
    line += fmt::format(R"("dropped":"{}","error":{}}})", to_string(*dropped), base::dump_json(error));
  return line;
}

std::string lost_frame_line(std::uint32_t source, std::uint64_t sequence, stream::DropReason reason) {
  return fmt::format(R"({}{},"frame":{},"dropped":"{}"}})", kBegin, source, sequence, to_string(reason));
}

std::uint32_t source_of_line(std::string_view line) {
  std::uint32_t source = 0;
  if (line.size() > kBegin.size()) std::from_chars(line.data() + kBegin.size(), line.data() + line.size(), source);
  return source;
}

std::string_view drop_reason_of_line(std::string_view line) {
  // The keys are in a fixed order, and a file's name has its quotation marks escaped.
  constexpr std::string_view kKey = R"("dropped":")";
  const auto at = line.find(kKey);
  if (at == std::string_view::npos || line.find(R"("result":)") < at) return {};
  const auto reason = line.substr(at + kKey.size());
  return reason.substr(0, reason.find('"'));
}

std::optional<double> latency_of_line(std::string_view line) {
  constexpr std::string_view kKey = R"("latency_ms":)";
  constexpr std::string_view kNext = R"(,"result":)";
  const auto at = line.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kKey.size());
  double ms = 0;
  const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), ms);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (fault != std::errc() || line.substr(0, kNext.size()) != kNext) return std::nullopt;
  return ms;
}

}  // namespace ridgeline::execute
