// SPDX-License-Identifier: Apache-2.0
#include "stream/lateness_audit.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace ridgeline::stream {
namespace {

constexpr std::int64_t kMostLate = 1'000'000;
constexpr std::int64_t kShareOfSlo = 100;  // 1 %

double in_ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

}  // namespace

void LatenessAudit::add(std::int64_t intended_ns, std::int64_t issued_ns) {
  lateness_.add(std::abs(issued_ns - intended_ns));
}

LatenessAudit::Verdict LatenessAudit::verdict(std::int64_t slo_ns) const {
  Verdict verdict;
  verdict.limit_ns = slo_ns > 0 ? std::min(slo_ns / kShareOfSlo, kMostLate) : kMostLate;
  verdict.p999_ns = lateness_.quantile(0.999);
  verdict.is_void = verdict.p999_ns > verdict.limit_ns;
  verdict.message =
      fmt::format("load generator: p99.9 of lateness {:.3f} ms, at most {:.3f} ms{}", in_ms(verdict.p999_ns),
                  in_ms(verdict.limit_ns), verdict.is_void ? "; the run is void" : "");
  return verdict;
}

}  // namespace ridgeline::stream
