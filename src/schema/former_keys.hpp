// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

namespace ridgeline::schema {

struct BenchAnswers;
struct BenchTrial;
struct Comparison;
struct Measurement;
struct PairedPlan;
struct RunTrial;
struct SweepTrial;
struct TrialOutcome;
struct TrialSpec;
struct TunedPair;
struct TunedTrial;
struct TuneRun;
struct TuneVerdict;

/// Of every kind of trial.
inline constexpr base::FormerKey kFormerCached{"cached", "from_store"};

}  // namespace ridgeline::schema

// Keys of records that versions before 0.2 wrote.
namespace ridgeline::base {

template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::BenchAnswers>{{{"stability_steps", "soak_steps"}}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::BenchTrial>{{schema::kFormerCached}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::Comparison>{{{"abba_rounds", "quads"}}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::Measurement>{{{"concurrency", "lanes"}}};
template <>
inline constexpr std::array<FormerKey, 2> kFormerKeys<schema::PairedPlan>{
    {{"abba_rounds", "quads"}, {"max_abba_rounds", "max_quads"}}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::RunTrial>{{schema::kFormerCached}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::SweepTrial>{{schema::kFormerCached}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::TrialOutcome>{{{"output_error", "drift"}}};
template <>
inline constexpr std::array<FormerKey, 2> kFormerKeys<schema::TrialSpec>{
    {{"tensor_location", "io"}, {"isolated", "alone"}}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::TunedPair>{{schema::kFormerCached}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::TunedTrial>{{schema::kFormerCached}};
template <>
inline constexpr std::array<FormerKey, 1> kFormerKeys<schema::TuneRun>{{{"tensor_location", "io"}}};
template <>
inline constexpr std::array<FormerKey, 3> kFormerKeys<schema::TuneVerdict>{
    {{"tied_with", "tie_group"}, {"isolated_key", "alone_key"}, {"isolated_current_key", "alone_current_key"}}};

}  // namespace ridgeline::base
