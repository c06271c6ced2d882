// SPDX-License-Identifier: Apache-2.0
#include "stream/slo_sizing.hpp"

#include <algorithm>

namespace ridgeline::stream {
base::Result<void> check_slo(const ServiceModel& model, std::int64_t slo_ns) {
  if (const auto one = model.expected_ns(1); one > slo_ns)
    return base::fail(base::ErrorCode::invalid_argument, "an SLO of {:.3g} ms is shorter than one inference, {:.3g} ms",
                      static_cast<double>(slo_ns) * 1e-6, static_cast<double>(one) * 1e-6)
        .hint("give a longer SLO, or a smaller inference scale or model");
  return {};
}

namespace {

/// The largest batch up to `limit` whose time is at most `time_ns`; 1 when there is none.
std::uint32_t batch_within(const ServiceModel& model, std::uint32_t limit, std::int64_t time_ns) {
  std::uint32_t fits = 1;
  for (std::uint32_t n = 2; n <= std::min(limit, model.largest()) && model.high_ns(n) <= time_ns; ++n) fits = n;
  return fits;
}

}  // namespace

base::Result<std::uint32_t> slo_batch(const ServiceModel& model, std::uint32_t limit, std::int64_t slo_ns) {
  RL_TRY(check_slo(model, slo_ns));
  return batch_within(model, limit, slo_ns / 2);
}

std::size_t slo_capacity(const ServiceModel& model, std::uint32_t max_batch, std::uint32_t workers,
                         std::int64_t slo_ns) noexcept {
  const std::uint32_t batch = batch_within(model, max_batch, slo_ns);
  const double per_ns = static_cast<double>(workers) * batch / static_cast<double>(model.expected_ns(batch));
  return std::max<std::size_t>(static_cast<std::size_t>(per_ns * static_cast<double>(slo_ns)), 1);
}

}  // namespace ridgeline::stream
