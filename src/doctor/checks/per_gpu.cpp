// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/per_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "doctor/messages.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

/// Commands that are not in the list yet.
void add_new(const std::vector<std::string>& commands, std::vector<std::string>& list) {
  for (const auto& command : commands)
    if (std::find(list.begin(), list.end(), command) == list.end()) list.push_back(command);
}

}  // namespace

std::string gpu_label(const schema::GpuDescription& gpu) {
  return gpu.index ? fmt::format("GPU {}", *gpu.index) : gpu.uuid.empty() ? "GPU" : gpu.uuid;
}

std::string as_shown(const schema::Message& message) {
  static const std::array tables{messages::table(), schema::messages::table()};
  static const schema::MessageRenderer words(tables);
  return words.text(message);
}

void fold_verdicts(std::vector<DeviceVerdict> verdicts, Check& check) {
  constexpr std::string_view kGpu = "GPU ";
  struct Line {
    std::vector<std::string> devices;
    GpuVerdict verdict;
    std::string shown;
  };
  std::vector<Line> lines;  // devices that say the same share one
  for (auto& [device, verdict] : verdicts) {
    auto shown = as_shown(verdict.evidence);
    const auto same = std::find_if(lines.begin(), lines.end(), [&, &one = verdict](const Line& line) {
      return line.verdict.status == one.status && line.shown == shown;
    });
    if (same == lines.end()) {
      lines.push_back({{device}, std::move(verdict), std::move(shown)});
    } else {
      same->devices.push_back(device.rfind(kGpu, 0) == 0 ? device.substr(kGpu.size()) : device);
      add_new(verdict.commands, same->verdict.commands);
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.verdict.status > b.verdict.status; });
  const auto& worst = lines.front().verdict;
  const bool skipped = std::all_of(lines.begin(), lines.end(),
                                   [](const Line& line) { return line.verdict.status == CheckStatus::skipped; });
  // Something was judged, so that the parts that could not be do not count.
  check.status = skipped ? CheckStatus::skipped : worst.status == CheckStatus::skipped ? CheckStatus::ok : worst.status;
  const auto of_line = [&](const Line& line) {
    if (lines.size() == 1 && verdicts.size() > 1)
      return messages::on_all({.devices = std::ssize(verdicts), .what = line.verdict.evidence});
    if (line.devices.front().empty()) return line.verdict.evidence;
    return messages::on_devices({.devices = line.devices, .what = line.verdict.evidence});
  };
  std::vector<schema::Message> parts;  // devices that are well are not listed beside one that is not
  for (const auto& line : lines)
    if (check.status < CheckStatus::warn || line.verdict.status >= CheckStatus::warn) parts.push_back(of_line(line));
  check.evidence = parts.size() == 1 ? parts.front() : schema::messages::several(parts);
  check.fix = worst.fix;
  for (const auto& line : lines)
    if (line.verdict.status >= CheckStatus::warn) add_new(line.verdict.commands, check.commands);
}

Check check_each_gpu(const std::string& id, schema::Message title, const Facts& facts,
                     const std::function<GpuVerdict(const GpuFacts&)>& judge_one) {
  auto check = make_check(CheckGroup::gpu, id, std::move(title), CheckStatus::skipped, messages::no_gpu(), {}, {});
  if (facts.gpus.empty()) return check;
  std::vector<DeviceVerdict> verdicts;
  for (const auto& gpu : facts.gpus)
    verdicts.push_back({facts.gpus.size() == 1 ? "" : gpu_label(gpu.gpu), judge_one(gpu)});
  fold_verdicts(std::move(verdicts), check);
  return check;
}

}  // namespace ridgeline::doctor
