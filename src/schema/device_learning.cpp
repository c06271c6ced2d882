// SPDX-License-Identifier: Apache-2.0
#include "schema/device_learning.hpp"

namespace ridgeline::schema {
namespace {

void pool(double& mean, double& weight, double other_mean, double other_weight) {
  if (other_weight <= 0) return;
  mean = (weight * mean + other_weight * other_mean) / (weight + other_weight);
  weight += other_weight;
}

}  // namespace

void DeviceLearning::add(const DeviceLearning& other) {
  pool(session_variance, session_freedom, other.session_variance, other.session_freedom);
  for (const auto& [key, effect] : other.effects) pool(effects[key].mean, effects[key].runs, effect.mean, effect.runs);
}

RL_DEFINE_JSON(SettingEffect, mean, runs)
RL_DEFINE_JSON(DeviceLearning, session_variance, session_freedom, effects)

}  // namespace ridgeline::schema
