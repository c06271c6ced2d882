// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/verify_model.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/comparison.hpp"
#include "analysis/profile_comparison.hpp"
#include "campaign/fitting_lengths.hpp"
#include "campaign/messages.hpp"
#include "campaign/model_spec.hpp"
#include "execute/calls.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::campaign {

using base::Result;

Result<schema::ProfileVerification> verify_model(const schema::ProfileModelRequest& model, const ModelChange& change,
                                                 execute::Executor& executor, const Budget& budget) {
  schema::ProfileVerification out;
  out.change = change.setting();
  out.what = messages::verify_setting(change.setting());
  out.measured_utc = executor.clock().utc_now();
  const std::string key(change.key);
  if (schema::effective_value(model.configuration, key) == change.value) {
    out.reason = messages::verify_setting_same(change.setting());
    return out;
  }
  RL_TRY_ASSIGN(const auto environment, executor.environment(0));
  RL_TRY_ASSIGN(auto found, find_model_spec({model.workload, model.provider, model.where, model.configuration},
                                            executor, environment, out.remarks));
  out.remarks.clear();  // the profile has them
  if (const auto& profiled = model.workload.content_sha256;
      !profiled.empty() && profiled != found.spec.workload.content_sha256)
    out.remarks.push_back(messages::verify_model_changed(model.workload.location));
  schema::PairedSpec spec{found.spec, found.spec.configuration.with(key, change.value), {}};
  spec.plan.max_time_s = std::min(spec.plan.max_time_s, std::max(budget.left_s(), spec.plan.min_time_s));
  auto asked = found.spec.workload;
  asked.shapes = model.workload.shapes;
  schema::PairedOutcome outcome;
  RL_TRY(with_fitting_lengths(executor, {asked, model.where.library}, spec.base.workload, [&]() {
    return execute::run_pair(executor, spec, {.seconds = budget.left_s()}).map([&](auto&& one) {
      outcome = std::forward<decltype(one)>(one);
    });
  }));
  if (outcome.failure) out.reason = messages::verify_comparison_failed(std::move(outcome.failure->message));
  if (outcome.failure || !outcome.measurement) return out;
  out.comparison = analysis::compare_paired(*outcome.measurement, schema::Objective::latency, analysis::kProfileEffect,
                                            found.spec.on_gpu() ? analysis::kGpuSessionStdev : 0);
  if (const auto medians = analysis::arm_medians(*outcome.measurement)) {
    out.present_ns = {medians->a_ns};
    out.changed_ns = {medians->b_ns};
  }
  return out;
}

}  // namespace ridgeline::campaign
