// SPDX-License-Identifier: Apache-2.0
#include "watch/cpu_use.hpp"

#include <array>
#include <sstream>
#include <string>

#include "base/file.hpp"

namespace ridgeline::watch {
namespace {

constexpr std::uint64_t kLeastTicks = 10;  // of a hundred a second and CPU

}  // namespace

std::optional<CpuUse::Ticks> CpuUse::read() const {
  const auto text = base::read_file(stat_);
  if (!text) return std::nullopt;
  std::istringstream line(text->substr(0, text->find('\n')));
  std::string name;
  line >> name;
  // user nice system idle iowait irq softirq steal; guests are in user and nice already
  std::array<std::uint64_t, 8> ticks{};
  for (auto& one : ticks) line >> one;
  if (name != "cpu" || !line) return std::nullopt;
  Ticks out;
  for (const auto one : ticks) out.all += one;
  out.busy = out.all - ticks[3] - ticks[4];
  return out;
}

std::optional<double> CpuUse::busy_percent() {
  const auto now = read();
  const auto before = before_;
  if (!now || (before && now->all < before->all + kLeastTicks)) return std::nullopt;
  before_ = now;
  if (!before) return std::nullopt;
  const auto busy = now->busy > before->busy ? now->busy - before->busy : 0;
  return 100.0 * static_cast<double>(busy) / static_cast<double>(now->all - before->all);
}

}  // namespace ridgeline::watch
