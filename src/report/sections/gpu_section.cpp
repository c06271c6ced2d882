// SPDX-License-Identifier: Apache-2.0
// The GPU that was tuned on, and what limits the configurations of interest on it.
#include "analysis/gpu_limits.hpp"
#include "analysis/isolated.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

using base::format_bytes;

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

std::string power_text(const schema::GpuDescription& gpu) {
  if (!gpu.power_limit_w) return {};
  auto text = fmt::format("{:.0f} W", *gpu.power_limit_w);
  if (gpu.default_power_limit_w) text += fmt::format(" of {:.0f} W by default", *gpu.default_power_limit_w);
  return text;
}

void add_card(Facts& facts, const schema::GpuDescription& gpu) {
  add(facts, "GPU", plain_text(gpu.name));
  add(facts, "Architecture",
      joined_parts({plain_text(gpu.architecture), gpu.compute_capability.empty()
                                                      ? std::string()
                                                      : "compute capability " + plain_text(gpu.compute_capability)}));
  if (gpu.multiprocessors) add(facts, "Multiprocessors (SMs)", fmt::format("{}", *gpu.multiprocessors));
  if (gpu.memory_bytes > 0)
    add(facts, "Memory",
        joined_parts({format_bytes(static_cast<double>(gpu.memory_bytes)),
                      gpu.memory_free_bytes
                          ? format_bytes(static_cast<double>(*gpu.memory_free_bytes)) + " free at the start"
                          : std::string()}));
  add(facts, "Clocks",
      joined_parts({gpu.max_sm_clock_mhz ? fmt::format("SM up to {:.0f} MHz", *gpu.max_sm_clock_mhz) : std::string(),
                    gpu.max_memory_clock_mhz ? fmt::format("memory up to {:.0f} MHz", *gpu.max_memory_clock_mhz)
                                             : std::string()}));
  add(facts, "Power limit", power_text(gpu));
  add(facts, "Modes",
      joined_parts({mode_text("ECC", gpu.ecc), mode_text("MIG", gpu.mig), mode_text("persistence", gpu.persistence)}));
  add(facts, "Driver",
      joined_parts({plain_text(gpu.driver_version),
                    gpu.cuda_version.empty() ? std::string() : "serves CUDA up to " + plain_text(gpu.cuda_version)}));
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

std::string rate_text(const std::optional<double>& value, const char* unit, const char* what) {
  return value ? fmt::format("{} {:.{}f}{}", what, *value, *value < 100 ? 1 : 0, unit) : std::string();
}

std::string ceilings_text(const schema::TuneRun& run) {
  if (!run.gpu_ceilings) return "not measured";
  const auto& found = *run.gpu_ceilings;
  return joined_parts({rate_text(found.copy_gb_per_s, " GB/s", "device memory"),
                       rate_text(found.h2d_gb_per_s, " GB/s", "host to device"),
                       rate_text(found.d2h_gb_per_s, " GB/s", "device to host"),
                       rate_text(found.h2d_pageable_gb_per_s, " GB/s", "host to device from ordinary memory"),
                       rate_text(found.d2h_pageable_gb_per_s, " GB/s", "device to host into ordinary memory"),
                       rate_text(found.matmul_fp32_tflops, " TFLOP/s", "FP32 products"),
                       rate_text(found.matmul_tf32_tflops, " TFLOP/s", "TF32 products"),
                       rate_text(found.matmul_fp16_tflops, " TFLOP/s", "FP16 products"),
                       rate_text(found.launch_us, " µs", "a launch")});
}

/// Clock and throttling of one trial while it was timed.
std::string clock_text(const TuneView& view, const schema::TunedTrial* trial) {
  const auto* measured = trial != nullptr ? view.measurement(*trial) : nullptr;
  if (measured == nullptr || !measured->gpu || !measured->gpu->sm_clock_mhz) return {};
  const auto& gpu = *measured->gpu;
  auto text = fmt::format("median {:.0f} MHz", *gpu.sm_clock_mhz);
  if (gpu.sm_clock_min_mhz) text += fmt::format(", lowest {:.0f} MHz", *gpu.sm_clock_min_mhz);
  if (!gpu.clock_reasons.empty())
    text += ", throttled at times: " + plain_text(fmt::format("{}", fmt::join(gpu.clock_reasons, " ")));
  return text + fmt::format(" (trial {})", trial_link(trial->id));
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
  Table table{"Where the time of one inference goes",
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
    section.blocks.emplace_back(
        Paragraph{"What each resource alone would take at the best rate measured on this card, as a share of the "
                  "measured time; up to: counted over the nodes of the file, of which the runtime may fuse many. They "
                  "overlap, so they need not sum to it. If "
                  "nothing is near its peak, the run is launch-bound or its kernels are inefficient. Headroom "
                  "is how many times as fast a configuration could be at best; for launches that is against the "
                  "arithmetic or memory traffic "
                  "that remains. Busy: the share of the time with a kernel running."});
    section.blocks.emplace_back(std::move(limits));
  }
  Facts facts;
  if (const auto* gpu = view.gpu()) add_card(facts, *gpu);
  add_libraries(facts, view.run);
  add(facts, "SM clock while timed",
      clock_text(view, view.recommended() != nullptr ? view.recommended() : view.current()));
  add(facts, "Best rates measured", ceilings_text(view.run));
  add(facts, "Scenario", scenario_text(view.run));
  section.blocks.emplace_back(std::move(facts));
  return section;
}

}  // namespace ridgeline::report
