// SPDX-License-Identifier: Apache-2.0
// The GPU that was tuned on, and what limits the configurations of interest on it.
#include "analysis/gpu_limits.hpp"
#include "analysis/isolated.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

std::string joined_parts(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts)
    if (!part.empty()) out += (out.empty() ? "" : ", ") + part;
  return out;
}

/// Adds a row unless the value is empty.
void add(Facts& facts, std::string key, std::string value) {
  if (!value.empty()) facts.rows.emplace_back(std::move(key), std::move(value));
}

std::string mode_text(const char* name, const std::optional<bool>& on) {
  return on ? fmt::format("{} {}", name, *on ? "on" : "off") : std::string();
}

std::optional<double> optional_bytes(const std::optional<std::int64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

void add_card(const schema::MessageRenderer& words, Facts& facts, const schema::GpuDescription& gpu) {
  add(facts, "GPU", plain_text(gpu.name));
  add(facts, "Architecture",
      joined_parts({plain_text(gpu.architecture), gpu.compute_capability.empty()
                                                      ? std::string()
                                                      : "compute capability " + plain_text(gpu.compute_capability)}));
  if (gpu.multiprocessors) add(facts, "Multiprocessors (SMs)", fmt::format("{}", *gpu.multiprocessors));
  if (gpu.memory_bytes > 0)
    add(facts, "Memory",
        words.text(messages::free_at_start(
            {.bytes = static_cast<double>(gpu.memory_bytes), .free = optional_bytes(gpu.memory_free_bytes)})));
  add(facts, "Clocks",
      words.text(messages::gpu_clocks({.sm = gpu.max_sm_clock_mhz, .memory = gpu.max_memory_clock_mhz})));
  if (gpu.power_limit_w)
    add(facts, "Power limit",
        words.text(messages::gpu_power({.limit = *gpu.power_limit_w, .usual = gpu.default_power_limit_w})));
  add(facts, "Modes",
      joined_parts({mode_text("ECC", gpu.ecc), mode_text("MIG", gpu.mig), mode_text("persistence", gpu.persistence)}));
  add(facts, "Driver",
      words.text(
          messages::gpu_driver({.driver = plain_text(gpu.driver_version), .cuda = plain_text(gpu.cuda_version)})));
}

/// "CUDA runtime" for "libcudart.so.13"; "" for a library that has no row of its own.
std::string library_title(const std::string& file) {
  static const std::vector<std::pair<std::string_view, std::string>> kTitles{
      {"libcudart.", "CUDA runtime"}, {"libcudnn.", "cuDNN"}, {"libcublas.", "cuBLAS"}, {"libnvinfer.", "TensorRT"}};
  for (const auto& [start, title] : kTitles)
    if (file.rfind(start, 0) == 0) return title;
  return {};
}

void add_libraries(Facts& facts, const schema::TuneRun& run) {
  const auto at = run.runtime.provider_libraries.find(run.provider);
  if (at == run.runtime.provider_libraries.end()) return;
  std::vector<std::string> others;
  for (const auto& [file, version] : at->second) {
    const auto title = library_title(file);
    if (title.empty())
      others.push_back(plain_text(file + " " + version));
    else
      add(facts, title, plain_text(version));
  }
  add(facts, "Other libraries", joined_parts(others));
}

std::string ceilings_text(const TuneView& view) {
  if (!view.run.gpu_ceilings) return "not measured";
  const auto& found = *view.run.gpu_ceilings;
  std::vector<std::string> parts;
  using enum messages::GpuCeilingOf;
  const auto add_rate = [&](messages::GpuCeilingOf of, const std::optional<double>& value, const char* unit) {
    if (value)
      parts.push_back(view.text(messages::gpu_ceiling({.of = of, .value = {*value, unit, *value < 100 ? 1 : 0}})));
  };
  add_rate(memory, found.copy_gb_per_s, "GB/s");
  add_rate(h2d, found.h2d_gb_per_s, "GB/s");
  add_rate(d2h, found.d2h_gb_per_s, "GB/s");
  add_rate(h2d_pageable, found.h2d_pageable_gb_per_s, "GB/s");
  add_rate(d2h_pageable, found.d2h_pageable_gb_per_s, "GB/s");
  add_rate(fp32, found.matmul_fp32_tflops, "TFLOP/s");
  add_rate(tf32, found.matmul_tf32_tflops, "TFLOP/s");
  add_rate(fp16, found.matmul_fp16_tflops, "TFLOP/s");
  add_rate(launch, found.launch_us, "µs");
  return joined_parts(parts);
}

/// Clock and throttling of one trial while it was timed.
std::string clock_text(const TuneView& view, const schema::TunedTrial* trial) {
  const auto* measured = trial != nullptr ? view.measurement(*trial) : nullptr;
  if (measured == nullptr || !measured->gpu || !measured->gpu->sm_clock_mhz) return {};
  const auto& gpu = *measured->gpu;
  std::vector<std::string> reasons;
  for (const auto& reason : gpu.clock_reasons) reasons.push_back(plain_text(reason));
  return view.linked(messages::gpu_clock(
      {.clock = *gpu.sm_clock_mhz, .lowest = gpu.sm_clock_min_mhz, .reasons = reasons, .trial = trial->id}));
}

/// `most`: "" or "up to ".
std::string floor_cell(const std::optional<double>& floor_ns, double whole_ns, const char* most = "") {
  if (!floor_ns) return std::string(kAbsent);
  return fmt::format("{}{} ({:.0f} %)", most, base::format_duration(*floor_ns), 100 * *floor_ns / whole_ns);
}

std::string limit_cell(const analysis::GpuLimits& limits) {
  if (limits.slow_kernels) return "slow kernels";
  return fmt::format("{}{}", limits.likely ? "likely " : "", analysis::bound_name(limits.bound));
}

Table limits_table(const TuneView& view) {
  Table table{view.text(messages::gpu_limits_table()),
              {{"Trial"},
               {"Limit"},
               {"Headroom", Align::right},
               {"Inference", Align::right},
               {"Arithmetic", Align::right},
               {"Memory", Align::right},
               {"Copies", Align::right},
               {"Launches", Align::right},
               {"GPU busy", Align::right}},
              {}};
  std::vector<std::pair<const schema::TunedTrial*, const char*>> shown{{view.current(), "in use now"}};
  if (view.recommended() != view.current()) shown.emplace_back(view.recommended(), "recommended");
  for (const auto& [trial, name] : shown) {
    const auto* ranked = trial != nullptr ? view.ranked(trial->id) : nullptr;
    const auto limits =
        ranked != nullptr
            ? analysis::gpu_limits(view.run, *ranked,
                                   analysis::isolated_with(view.run, view.outcomes, ranked->trial->configuration))
            : std::nullopt;
    if (!limits) continue;
    const auto* most = limits->work.as_run ? "" : "up to ";
    table.rows.push_back(
        {{fmt::format("{} {}", trial_link(trial->id), name), limit_cell(*limits),
          limits->distance ? fmt::format("{:.2g}×", *limits->distance) : std::string(kAbsent),
          base::format_duration(limits->inference_ns), floor_cell(limits->compute_ns, limits->inference_ns),
          floor_cell(limits->memory_ns, limits->inference_ns, most), floor_cell(limits->copy_ns, limits->inference_ns),
          floor_cell(limits->launch_ns, limits->inference_ns, most),
          limits->busy ? fmt::format("{:.0f} %", 100 * *limits->busy) : std::string(kAbsent)},
         Tone::neutral,
         ""});
  }
  return table;
}

}  // namespace

Section gpu_section(const TuneView& view) {
  Section section{"gpu", "The GPU", {}};
  if (!view.on_gpu()) return section;
  auto limits = limits_table(view);
  if (!limits.rows.empty()) {
    section.blocks.emplace_back(Paragraph{view.text(messages::gpu_limits())});
    section.blocks.emplace_back(std::move(limits));
  }
  Facts facts;
  if (const auto* gpu = view.gpu()) add_card(view.words, facts, *gpu);
  add_libraries(facts, view.run);
  add(facts, "SM clock during timing",
      clock_text(view, view.recommended() != nullptr ? view.recommended() : view.current()));
  add(facts, "Best rates measured", ceilings_text(view));
  add(facts, "Scenario", view.text(view.scenario()));
  section.blocks.emplace_back(std::move(facts));
  return section;
}

}  // namespace ridgeline::report
