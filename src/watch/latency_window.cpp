// SPDX-License-Identifier: Apache-2.0
#include "watch/latency_window.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/degradation_cause.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace ridgeline::watch {
namespace {

constexpr double kLongestNs = 3600e9;  // beyond it a number is no latency but a time stamp
constexpr double kLeastShare = 0.05;
constexpr std::size_t kMostShapes = 1000;  // different ones; a service with more tells shapes that are no mix
constexpr std::size_t kShownBytes = 60;
constexpr std::array<std::pair<const char*, double>, 4> kUnits{
    {{"latency_ns", 1}, {"latency_us", 1e3}, {"latency_ms", 1e6}, {"latency_s", 1e9}}};

std::optional<double> in_range(double ns) { return ns > 0 && ns <= kLongestNs ? std::optional(ns) : std::nullopt; }

std::optional<double> latency_of(const base::Json& line) {
  for (const auto& [name, factor] : kUnits)
    if (const auto found = line.find(name); found != line.end() && found->is_number())
      return in_range(found->get<double>() * factor);
  return std::nullopt;
}

schema::ShapeSet shapes_of(const base::Json& line) {
  schema::ShapeSet set;
  const auto found = line.find("shapes");
  if (found == line.end() || !found->is_object()) return set;
  for (const auto& [name, dims] : found->items()) {
    schema::InputShape shape{name, {}};
    if (!dims.is_array()) return {};
    for (const auto& dim : dims) {
      if (!dim.is_number_integer()) return {};
      shape.dims.push_back(dim.get<std::int64_t>());
    }
    set.push_back(std::move(shape));
  }
  return set;
}

}  // namespace

void LatencyWindow::add(double latency_ns) {
  ++seen_;
  if (latency_ns_.size() < kKept) {
    latency_ns_.push_back(latency_ns);
    return;
  }
  const auto place = random_.below(static_cast<std::uint64_t>(seen_));
  if (place < kKept) latency_ns_[static_cast<std::size_t>(place)] = latency_ns;
}

void LatencyWindow::refuse(std::string_view line) {
  if (refused_++ == 0) first_refused_ = std::string(line.substr(0, kShownBytes));
}

void LatencyWindow::add_line(std::string_view line) {
  line = base::trim(line);
  if (line.empty() || line.front() == '#') return;
  if (line.front() != '{') {
    const auto number = base::parse_number(line, "latency");
    const auto latency = number ? in_range(*number * 1e6) : std::nullopt;
    return latency ? add(*latency) : refuse(line);
  }
  const auto json = base::parse_json(line, "latency");
  const auto latency = json ? latency_of(*json) : std::nullopt;
  if (!latency) return refuse(line);
  add(*latency);
  auto set = shapes_of(*json);
  if (set.empty()) return;
  auto text = analysis::shape_text(set);
  if (shapes_.size() >= kMostShapes && shapes_.count(text) == 0) return;
  auto& shape = shapes_[std::move(text)];
  shape.set = std::move(set);
  ++shape.count;
}

LatencyWindow::Taken LatencyWindow::take() {
  Taken taken;
  taken.latency_ns = std::move(latency_ns_);
  std::int64_t told = 0;
  for (const auto& [text, shape] : shapes_) told += shape.count;
  for (auto& [text, shape] : shapes_) {
    const double share = static_cast<double>(shape.count) / static_cast<double>(told);
    taken.shares[text] = share;
    if (share >= kLeastShare) taken.shapes.push_back(std::move(shape.set));
  }
  taken.refused = refused_;
  taken.first_refused = std::move(first_refused_);
  *this = {};
  return taken;
}

}  // namespace ridgeline::watch
