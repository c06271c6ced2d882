// SPDX-License-Identifier: Apache-2.0
#include "stream/service_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/quantile.hpp"

namespace ridgeline::stream {
namespace {

constexpr std::size_t kFewRatios = 8;
/// A size that no batch had for so many batches forgets one of its ratios with every further one. A size that was slow
/// for a while may be avoided because of it; it is tried again once it has forgotten.
constexpr std::size_t kBatchesRemembered = 32;

}  // namespace

base::Result<ServiceModel> ServiceModel::make(std::vector<WarmUpTimes> warm_up, BatchShape shape) {
  if (warm_up.empty()) return base::fail(base::ErrorCode::invalid_argument, "no batch size was warmed");
  std::sort(warm_up.begin(), warm_up.end(), [](const auto& a, const auto& b) { return a.batch < b.batch; });
  ServiceModel model;
  model.shape_ = shape;
  for (const auto& [batch, times] : warm_up) {
    if (batch == 0 || (!model.buckets_.empty() && model.buckets_.back().size == batch))
      return base::fail(base::ErrorCode::invalid_argument, "batch size {} was warmed twice or is no size", batch);
    if (times.empty() || *std::min_element(times.begin(), times.end()) <= 0)
      return base::fail(base::ErrorCode::invalid_argument, "batch size {} has no warm-up times above 0 ns", batch);
    auto& bucket = model.buckets_.emplace_back();
    bucket.size = batch;
    bucket.warm_ns = stats::median({times.begin(), times.end()});
    for (const auto time : times) {
      bucket.ratios.add(static_cast<double>(time) / bucket.warm_ns);
      model.all_.add(static_cast<double>(time) / bucket.warm_ns);
    }
  }
  return model;
}

std::size_t ServiceModel::bucket_of(std::uint32_t n) const noexcept {
  const auto found = std::lower_bound(buckets_.begin(), buckets_.end(), n,
                                      [](const Bucket& b, std::uint32_t v) { return b.size < v; });
  return std::min(static_cast<std::size_t>(found - buckets_.begin()), buckets_.size() - 1);
}

std::uint32_t ServiceModel::executed_size(std::uint32_t n) const noexcept {
  return shape_ == BatchShape::exact ? n : buckets_[bucket_of(n)].size;
}

std::uint32_t ServiceModel::efficient_size(std::uint32_t n) const noexcept {
  const auto bucket = bucket_of(n);
  if (shape_ == BatchShape::exact || bucket == 0 || buckets_[bucket].size <= n) return n;
  const auto full = buckets_[bucket - 1].size;
  const auto rate = [&](std::uint32_t size) {
    return static_cast<double>(size) / static_cast<double>(expected_ns(size));
  };
  return rate(full) > rate(n) ? full : n;
}

std::uint32_t ServiceModel::largest() const noexcept {
  return shape_ == BatchShape::exact ? std::numeric_limits<std::uint32_t>::max() : buckets_.back().size;
}

double ServiceModel::warm(std::uint32_t n) const noexcept {
  const auto& upper = buckets_[bucket_of(n)];
  if (shape_ == BatchShape::padded || n == upper.size) return upper.warm_ns;
  if (n < buckets_.front().size) return upper.warm_ns;
  if (buckets_.size() == 1) return upper.warm_ns * std::ceil(static_cast<double>(n) / upper.size);
  const auto& high = n > buckets_.back().size ? buckets_.back() : upper;
  const auto& low = *(&high - 1);
  const double slope = (high.warm_ns - low.warm_ns) / (high.size - low.size);
  return std::max(low.warm_ns, low.warm_ns + slope * (static_cast<double>(n) - low.size));
}

const RatioWindow& ServiceModel::ratios(std::size_t bucket) const noexcept {
  return buckets_[bucket].ratios.count() < kFewRatios ? all_ : buckets_[bucket].ratios;
}

std::int64_t ServiceModel::warm_ns(std::uint32_t n) const noexcept { return std::llround(warm(n)); }

std::int64_t ServiceModel::expected_ns(std::uint32_t n) const noexcept {
  return std::llround(warm(n) * ratios(bucket_of(n)).mean());
}

std::int64_t ServiceModel::high_ns(std::uint32_t n) const noexcept {
  return std::llround(warm(n) * ratios(bucket_of(n)).high());
}

void ServiceModel::observe(std::uint32_t n, std::int64_t took_ns) {
  const std::size_t at = bucket_of(n);
  const double ratio = static_cast<double>(took_ns) / warm(n);
  all_.add(ratio);
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    auto& entry = buckets_[bucket];
    if (bucket == at) {
      entry.ratios.add(ratio);
      entry.not_seen_for = 0;
    } else if (++entry.not_seen_for > kBatchesRemembered) {
      entry.ratios.forget_one();
    }
  }
}

}  // namespace ridgeline::stream
