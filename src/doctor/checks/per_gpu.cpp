// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/per_gpu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

Check check_each_gpu(std::string id, std::string title, const Facts& facts,
                     const std::function<GpuVerdict(const GpuFacts&)>& judge_one) {
  Check check{"gpu." + std::move(id), std::move(title), CheckGroup::gpu, CheckStatus::skipped, "no GPU", {}, {}};
  if (facts.gpus.empty()) return check;
  struct Line {
    std::string gpus;
    std::size_t count;
    GpuVerdict verdict;
  };
  std::vector<Line> lines;  // GPUs that say the same share one
  for (const auto& gpu : facts.gpus) {
    auto verdict = judge_one(gpu);
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
      return line.verdict.status == verdict.status && line.verdict.evidence == verdict.evidence;
    });
    const auto number = gpu.gpu.index ? fmt::format("{}", *gpu.gpu.index) : gpu.gpu.uuid;
    if (same == lines.end()) {
      lines.push_back({gpu_label(gpu.gpu), 1, std::move(verdict)});
    } else {
      same->gpus += ", " + number;
      ++same->count;
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
  if (lines.size() == 1) {
    check.evidence =
        facts.gpus.size() == 1 ? worst.evidence : fmt::format("all {}: {}", facts.gpus.size(), worst.evidence);
  } else {
    std::vector<std::string> texts;
    for (const auto& line : lines)
      if (check.status == CheckStatus::ok || line.verdict.status >= CheckStatus::warn)
        texts.push_back(fmt::format("{}: {}", line.gpus, line.verdict.evidence));
    check.evidence = fmt::format("{}", fmt::join(texts, "; "));
  }
  check.fix = worst.fix;
  for (const auto& line : lines)
    if (line.verdict.status >= CheckStatus::warn) add_new(line.verdict.commands, check.commands);
  return check;
}

}  // namespace ridgeline::doctor
