// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/per_gpu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

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

void fold_verdicts(std::vector<DeviceVerdict> verdicts, Check& check) {
  constexpr std::string_view kGpu = "GPU ";
  struct Line {
    std::string devices;
    GpuVerdict verdict;
  };
  std::vector<Line> lines;  // devices that say the same share one
  for (auto& [device, verdict] : verdicts) {
    const auto same = std::find_if(lines.begin(), lines.end(), [&, &one = verdict](const Line& line) {
      return line.verdict.status == one.status && line.verdict.evidence == one.evidence;
    });
    if (same == lines.end()) {
      lines.push_back({device, std::move(verdict)});
    } else {
      same->devices += ", " + (device.rfind(kGpu, 0) == 0 ? device.substr(kGpu.size()) : device);
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
  if (lines.size() == 1 && verdicts.size() > 1) lines.front().devices = fmt::format("all {}", verdicts.size());
  std::vector<std::string> texts;  // devices that are well are not listed beside one that is not
  for (const auto& line : lines)
    if (check.status < CheckStatus::warn || line.verdict.status >= CheckStatus::warn)
      texts.push_back(line.devices.empty() ? line.verdict.evidence
                                           : fmt::format("{}: {}", line.devices, line.verdict.evidence));
  check.evidence = fmt::format("{}", fmt::join(texts, "; "));
  check.fix = worst.fix;
  for (const auto& line : lines)
    if (line.verdict.status >= CheckStatus::warn) add_new(line.verdict.commands, check.commands);
}

Check check_each_gpu(std::string id, std::string title, const Facts& facts,
                     const std::function<GpuVerdict(const GpuFacts&)>& judge_one) {
  Check check{"gpu." + std::move(id), std::move(title), CheckGroup::gpu, CheckStatus::skipped, "no GPU", {}, {}};
  if (facts.gpus.empty()) return check;
  std::vector<DeviceVerdict> verdicts;
  for (const auto& gpu : facts.gpus)
    verdicts.push_back({facts.gpus.size() == 1 ? "" : gpu_label(gpu.gpu), judge_one(gpu)});
  fold_verdicts(std::move(verdicts), check);
  return check;
}

}  // namespace ridgeline::doctor
