// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridgeline::monitor {

using MetricLabels = std::vector<std::pair<const char*, std::string>>;

/// Collects the samples of one family in Prometheus' text format and writes it to `out` unless it stayed empty.
class MetricFamily {
 public:
  MetricFamily(std::string& out, std::string name, const char* type, const char* help)
      : out_(out), name_(std::move(name)), type_(type), help_(help) {}
  MetricFamily(const MetricFamily&) = delete;
  MetricFamily& operator=(const MetricFamily&) = delete;
  ~MetricFamily();

  /// A value that is not known is left out. `suffix`: "_sum" and the like of histograms and summaries.
  void add(const MetricLabels& labels, const std::optional<double>& value, std::string_view suffix = "");

 private:
  std::string& out_;
  std::string name_;
  const char* type_;
  const char* help_;
  std::string samples_;
};

}  // namespace ridgeline::monitor
