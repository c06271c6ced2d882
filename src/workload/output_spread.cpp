// SPDX-License-Identifier: Apache-2.0
#include "workload/output_spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "workload/messages.hpp"
#include "workload/real_values.hpp"

namespace ridgeline::workload {
namespace {

// Smooth functions of the values: quantiles of outputs with few different values (dropout, samples of a class) jump.
enum Statistic : std::size_t { kElements, kMean, kDeviation, kMagnitude, kAgreement, kDistance, kStatistics };
constexpr std::array<schema::OutputStatistic, kStatistics> kNames{
    schema::OutputStatistic::elements,  schema::OutputStatistic::mean,      schema::OutputStatistic::standard_deviation,
    schema::OutputStatistic::magnitude, schema::OutputStatistic::agreement, schema::OutputStatistic::distance};

struct Moments {
  double mean = 0;
  double error = 0;  ///< standard deviation of one
};

/// Of one statistic over calls.
Moments moments_of(const std::vector<double>& calls, std::size_t statistic) {
  Moments moments;
  double squares = 0;
  double count = 0;
  for (std::size_t at = statistic; at < calls.size(); at += kStatistics) {
    ++count;
    const double before = moments.mean;
    moments.mean += (calls[at] - before) / count;
    squares += (calls[at] - before) * (calls[at] - moments.mean);
  }
  if (count > 1) moments.error = std::sqrt(squares / (count - 1));
  return moments;
}

/// Of the finite values; those against the centre are 0 without one.
void append_statistics(const std::vector<double>& values, const std::vector<double>& centre,
                       std::vector<double>& calls) {
  double count = 0;
  double sum = 0;
  double magnitude = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    ++count;
    sum += value;
    magnitude += std::abs(value);
  }
  count = std::max(count, 1.0);
  const double mean = sum / count;
  double squares = 0;
  double agreement = 0;
  double norm = 0;
  double distance = 0;
  const bool has_centre = centre.size() == values.size();
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (!std::isfinite(values[at])) continue;
    squares += (values[at] - mean) * (values[at] - mean);
    if (!has_centre) continue;
    agreement += values[at] * centre[at];
    norm += centre[at] * centre[at];
    distance += (values[at] - centre[at]) * (values[at] - centre[at]);
  }
  std::array<double, kStatistics> found{};
  found[kElements] = static_cast<double>(values.size());
  found[kMean] = mean;
  found[kDeviation] = std::sqrt(squares / count);
  found[kMagnitude] = magnitude / count;
  found[kAgreement] = norm > 0 ? agreement / norm : 0;
  found[kDistance] = std::sqrt(distance / count);
  calls.insert(calls.end(), found.begin(), found.end());
}

std::string base_name(const std::string& name) {
  constexpr std::string_view kSecond = " (second inputs)";
  return name.ends_with(kSecond) ? name.substr(0, name.size() - kSecond.size()) : name;
}

/// 1: each call above the one before; -1: below; 0: neither.
int direction(const std::vector<double>& calls, std::size_t statistic) {
  int found = 0;
  for (std::size_t at = statistic + kStatistics; at < calls.size(); at += kStatistics) {
    const double step = calls[at] - calls[at - kStatistics];
    const int sign = step > 0 ? 1 : step < 0 ? -1 : 0;
    if (sign == 0 || (found != 0 && sign != found)) return 0;
    found = sign;
  }
  return found;
}

/// How far apart in standard errors of the reference, and as a share of the output's magnitude.
schema::SpreadError compare(const std::vector<double>& reference, const std::vector<double>& found,
                            std::size_t statistic) {
  const auto expected = moments_of(reference, statistic);
  const auto seen = moments_of(found, statistic);
  const auto calls = [](const std::vector<double>& all) { return static_cast<double>(all.size() / kStatistics); };
  double scale = 1;  // of an agreement
  if (statistic == kElements) scale = expected.mean;
  if (statistic != kElements && statistic != kAgreement)
    scale = std::max(moments_of(reference, kMagnitude).mean, moments_of(reference, kDeviation).mean);
  schema::SpreadError error;
  error.statistic = kNames[statistic];
  error.found = seen.mean;
  error.reference = expected.mean;
  const double difference = std::abs(seen.mean - expected.mean);
  if (difference == 0) return error;
  const double standard_error = expected.error * std::sqrt(1 / calls(reference) + 1 / calls(found));
  constexpr double kNever = 1e9;  // JSON has no infinity
  error.distance = standard_error > difference / kNever ? difference / standard_error : kNever;
  error.relative = scale > difference / kNever ? difference / scale : kNever;
  return error;
}

/// What is far off in standard errors may be rounding, of an output that scatters little, and the other way round.
double badness(const schema::SpreadError& error) { return std::min(error.distance, 1e4 * error.relative); }

}  // namespace

SpreadCollector::SpreadCollector(const OutputSet& first, std::vector<std::size_t> varying) {
  for (const auto at : varying) {
    Varying output;
    output.at = at;
    output.name = base_name(first[at].name);
    output.has_numbers = first[at].bytes.empty() || !real_values(first[at]).empty();
    varying_.push_back(std::move(output));
  }
}

void SpreadCollector::add_centre(const OutputSet& outputs) {
  ++centre_count_;
  for (auto& output : varying_) {
    if (output.at >= outputs.size()) continue;
    const auto values = real_values(outputs[output.at]);
    append_statistics(values, {}, output.centre_calls);
    if (centre_count_ == 1) output.sum.assign(values.size(), 0);
    output.fixed_size = output.fixed_size && values.size() == output.sum.size();
    if (!output.fixed_size) continue;
    for (std::size_t at = 0; at < values.size(); ++at)
      if (std::isfinite(values[at])) output.sum[at] += values[at];
  }
}

void SpreadCollector::finish_centre() {
  centre_done_ = true;
  for (auto& output : varying_) {
    if (!output.fixed_size) continue;
    output.spread.centre = std::exchange(output.sum, {});
    for (double& value : output.spread.centre) value /= static_cast<double>(centre_count_);
  }
}

void SpreadCollector::add_call(const OutputSet& outputs) {
  if (!centre_done_) finish_centre();
  for (auto& output : varying_) {
    if (output.at >= outputs.size()) continue;
    const auto values = real_values(outputs[output.at]);
    // A size that never changed in those calls may change in these.
    if (values.size() != output.spread.centre.size()) output.spread.centre.clear();
    append_statistics(values, output.spread.centre, output.spread.calls);
  }
}

void SpreadCollector::write_to(OutputSet& reference) const {
  for (const auto& output : varying_) reference[output.at].spread = output.spread;
}

std::vector<std::string> SpreadCollector::names() const {
  std::vector<std::string> names;
  for (const auto& output : varying_)
    if (std::find(names.begin(), names.end(), output.name) == names.end()) names.push_back(output.name);
  return names;
}

schema::Message SpreadCollector::trend() const {
  for (const auto& output : varying_)
    for (const std::size_t statistic : {kElements, kMean}) {
      const auto& calls = output.spread.calls;
      const auto count = calls.size() / kStatistics;
      if (count < static_cast<std::size_t>(kLeastCalls)) continue;
      const int way = direction(calls, statistic);
      if (way == 0 || way != direction(output.centre_calls, statistic)) continue;
      return messages::output_has_trend({.output = output.name,
                                         .grows = way > 0,
                                         .size = statistic == kElements,
                                         .first = calls[statistic],
                                         .last = calls[(count - 1) * kStatistics + statistic],
                                         .calls = static_cast<std::int64_t>(count)});
    }
  return {};
}

std::string SpreadCollector::unjudged() const {
  const auto text =
      std::find_if(varying_.begin(), varying_.end(), [](const auto& output) { return !output.has_numbers; });
  return text == varying_.end() ? std::string() : text->name;
}

SpreadComparison::SpreadComparison(const OutputSet& reference) : reference_(&reference), found_(reference.size()) {
  for (const auto& output : reference)
    if (output.spread) calls_ = static_cast<std::int64_t>(output.spread->calls.size() / kStatistics);
}

void SpreadComparison::add(const OutputSet& outputs) {
  for (std::size_t at = 0; at < std::min(outputs.size(), reference_->size()); ++at)
    if (const auto& spread = (*reference_)[at].spread)
      append_statistics(real_values(outputs[at]), spread->centre, found_[at]);
}

std::optional<schema::SpreadError> SpreadComparison::worst() const {
  std::optional<schema::SpreadError> worst;
  for (std::size_t at = 0; at < found_.size(); ++at) {
    const auto& output = (*reference_)[at];
    if (!output.spread || found_[at].empty()) continue;
    for (std::size_t statistic = 0; statistic < kStatistics; ++statistic) {
      const bool against_centre = statistic == kAgreement || statistic == kDistance;
      if (against_centre && output.spread->centre.empty()) continue;
      auto error = compare(output.spread->calls, found_[at], statistic);
      if (worst && badness(error) <= badness(*worst)) continue;
      error.output = output.name;
      error.calls = calls_;
      worst = std::move(error);
    }
  }
  return worst;
}

void repeat_spread(OutputSpread& spread, double times) {
  spread.centre.clear();
  for (std::size_t at = kElements; at < spread.calls.size(); at += kStatistics) spread.calls[at] *= times;
}

}  // namespace ridgeline::workload
