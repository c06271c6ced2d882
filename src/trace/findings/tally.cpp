// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/tally.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "schema/kernel_name.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kListed = 3;
constexpr std::size_t kNameColumns = 70;  // templates of kernels fill pages

}  // namespace

void Tally::add(const std::string& module, std::int64_t saving_ns, std::int64_t time_ns, ProcessDevice device) {
  saving_ns_ += saving_ns;
  saving_by_gpu_[device] += saving_ns;
  time_ns_ += time_ns;
  ++count_;
  modules_.add(module, saving_ns);
}

void Tally::add_row(NameId name, std::int64_t time_ns) {
  auto& row = rows_[name];
  ++row.count;
  row.time_ns += time_ns;
}

void Tally::add_line(std::string_view line) {
  if (!line_) line_ = line;
  if (*line_ != line) line_ = std::string_view();
}

void Tally::add_bytes(double bytes) {
  if (bytes > 0) bytes_ += bytes;
}

std::int64_t Tally::saving_on_one_ns() const {
  std::int64_t most = 0;
  for (const auto& [device, ns] : saving_by_gpu_) most = std::max(most, ns);
  return most;
}

void Tally::tell(schema::ProfileFinding& finding, std::int64_t runs) const {
  finding.saving_ns = saving_on_one_ns();
  const auto modules = modules_.largest(kListed);
  if (!modules.empty()) finding.module = modules.front().place;
  finding.line = line_.value_or(std::string_view());
  const bool has_modules = modules.size() > 1 || !finding.module.empty();
  for (const auto& module : modules)
    if (has_modules)
      finding.evidence.push_back(
          messages::time_in_module({.time = static_cast<double>(module.amount / runs), .module = module.place}));
  std::vector<std::pair<NameId, Row>> rows(rows_.begin(), rows_.end());
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.second.time_ns, a.first) < std::tuple(-b.second.time_ns, b.first);
  });
  for (std::size_t i = 0; i < std::min(kListed, rows.size()); ++i)
    finding.evidence.push_back(messages::time_of_name(
        {.count = std::max<std::int64_t>(1, rows[i].second.count / runs),
         .name = base::shorten(schema::short_kernel_name(std::string(strings_.text(rows[i].first))), kNameColumns),
         .time = static_cast<double>(rows[i].second.time_ns / runs)}));
  if (saving_by_gpu_.size() > 1) finding.evidence.push_back(messages::saving_of_one_gpu());
}

schema::Message measured_bytes(const Tally& tally) {
  if (tally.bytes() == 0) return {};
  return messages::bytes_moved({.bytes = tally.bytes(), .from = messages::BytesMovedFrom::counters});
}

}  // namespace ridgeline::trace
