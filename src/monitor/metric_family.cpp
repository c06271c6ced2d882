// SPDX-License-Identifier: Apache-2.0
#include "monitor/metric_family.hpp"

#include <cmath>

#include <fmt/format.h>

namespace ridgeline::monitor {
namespace {

std::string escaped_label(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') out += '\\';
    out += letter == '\n' ? ' ' : letter;
  }
  return out;
}

}  // namespace

MetricFamily::~MetricFamily() {
  if (!samples_.empty()) out_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{3}", name_, help_, type_, samples_);
}

void MetricFamily::add(const MetricLabels& labels, const std::optional<double>& value, std::string_view suffix) {
  if (!value || !std::isfinite(*value)) return;
  samples_ += name_;
  samples_ += suffix;
  for (std::size_t i = 0; i < labels.size(); ++i)
    samples_ += fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first, escaped_label(labels[i].second));
  samples_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", *value);
}

}  // namespace ridgeline::monitor
