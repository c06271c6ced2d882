// SPDX-License-Identifier: Apache-2.0
#include "stream/lateness_audit.hpp"

#include <algorithm>
#include <cstdlib>

namespace ridgeline::stream {
namespace {

constexpr std::int64_t kMostLate = 1'000'000;
constexpr std::int64_t kShareOfSlo = 100;  // 1 %

}  // namespace

LatenessAudit::LatenessAudit(std::int64_t slo_ns) noexcept
    : limit_ns_(slo_ns > 0 ? std::min(slo_ns / kShareOfSlo, kMostLate) : kMostLate) {}

void LatenessAudit::add(std::int64_t intended_ns, std::int64_t issued_ns) {
  const auto off_ns = std::abs(issued_ns - intended_ns);
  lateness_.add(off_ns);
  late_frames_ += off_ns > limit_ns_ ? 1 : 0;
}

LatenessAudit::Verdict LatenessAudit::verdict() const {
  Verdict verdict;
  verdict.limit_ns = limit_ns_;
  verdict.p999_ns = lateness_.quantile(0.999);
  verdict.most_ns = lateness_.max();
  verdict.is_late = verdict.p999_ns > limit_ns_;
  verdict.late_frames = late_frames_;
  return verdict;
}

}  // namespace ridgeline::stream
