// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather_facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/scratch_folder.hpp"
#include "doctor/checks/per_gpu.hpp"
#include "doctor/gather/driver_facts.hpp"
#include "doctor/gather/gpu_facts.hpp"
#include "doctor/gather/gpu_load.hpp"
#include "doctor/gather/machine_facts.hpp"
#include "doctor/gather/python_facts.hpp"
#include "doctor/gather/recording_facts.hpp"
#include "doctor/messages.hpp"
#include "execute/found_runtimes.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/cuda_libraries.hpp"
#include "workload/onnx/elf_file.hpp"
#include "workload/onnx/gpu_library_names.hpp"
#include "workload/onnx/smoke_model.hpp"

namespace ridgeline::doctor {
namespace {

namespace fs = std::filesystem;

constexpr double kSmokeS = 0.2;
constexpr double kModelS = 2;

RuntimeFacts read_runtime(const Sources& sources) {
  RuntimeFacts facts;
  facts.fetch_script = find_fetch_script(sources.search.executable);
  facts.telemetry_chosen = std::getenv("ORT_DISABLE_TELEMETRY") != nullptr;
  const auto executor = sources.make_executor(nullptr);
  auto runtimes = execute::FoundRuntimes::find(*executor, "onnx", sources.where);
  if (!runtimes) {
    facts.error = std::move(runtimes).error();
    return facts;
  }
  auto chosen = runtimes->choose("", sources.environment);
  for (std::size_t i = 0; i < runtimes->all().size(); ++i) {
    auto& one = facts.found.emplace_back();
    one.found = runtimes->all()[i];
    one.taken = chosen && chosen->index == i;
    const auto& answer = runtimes->ask_with_plugins(i);
    if (!answer) {
      one.error = answer.error();
      continue;
    }
    one.identity = *answer;
    const auto bytes = base::read_file(answer->library_path);
    one.telemetry = bytes && bytes->find("ORT_DISABLE_TELEMETRY") != std::string::npos;
  }
  if (!chosen) {
    facts.error = std::move(chosen).error();
    return facts;
  }
  facts.identity = std::move(chosen->runtime);
  // The file says what it was built for, also where it does not load.
  const auto file = workload::provider_file(facts.identity->library_path, schema::usual_gpu_provider());
  const auto dynamic =
      file ? workload::read_elf_dynamic(*file) : base::Result<workload::ElfDynamic>(tl::unexpected(file.error()));
  if (file) facts.cuda_provider = file->string();
  if (dynamic)
    for (const auto& needed : dynamic->needed)
      if (needed.rfind("libcudart", 0) == 0) facts.cuda_major = workload::major_version(needed);
  return facts;
}

ProviderRun not_run(schema::Message why) {
  ProviderRun run;
  run.provider = schema::cpu_provider().id;
  run.device = schema::cpu_provider().title;
  run.not_run = std::move(why);
  return run;
}

/// CUDA_VISIBLE_DEVICES is respected: other GPUs may belong to other jobs.
bool may_use(const schema::GpuDescription& gpu, const Sources& sources) {
  const auto& visible = sources.environment.gpus;
  return std::any_of(visible.begin(), visible.end(), [&](const auto& one) { return one.uuid == gpu.uuid; });
}

std::vector<GpuFacts> usable_gpus(const Facts& facts, const Sources& sources) {
  std::vector<GpuFacts> usable;
  std::copy_if(facts.gpus.begin(), facts.gpus.end(), std::back_inserter(usable),
               [&](const GpuFacts& gpu) { return may_use(gpu.gpu, sources); });
  return usable;
}

std::vector<ProviderRun> smoke(const Facts& facts, const Sources& sources, const fs::path& scratch) {
  if (!facts.runtime.identity) return {not_run(messages::no_onnx_runtime())};
  schema::WorkloadRef model;
  model.kind = "onnx";
  model.location = (scratch / "smoke.onnx").string();
  if (const auto written = base::write_file_atomically(model.location, workload::smoke_model());
      scratch.empty() || !written)
    return {not_run(scratch.empty() ? messages::no_temporary_folder()
                                    : schema::messages::foreign(base::error_line(written.error())))};
  return ProviderRuns(sources.make_executor, *facts.runtime.identity, scratch)
      .run(model, usable_gpus(facts, sources), kSmokeS);
}

ModelFacts examine_model(const Facts& facts, const Sources& sources, const fs::path& scratch) {
  ModelFacts found;
  found.path = sources.model;
  workload::InspectRequest request;
  request.workload.kind = "onnx";
  request.workload.location = sources.model;
  request.runtime_library = sources.where.library;
  auto model = execute::inspect(*sources.make_executor(nullptr), request);
  if (!model) {
    found.error = std::move(model).error();
    return found;
  }
  found.model = std::move(*model);
  if (!facts.runtime.identity || scratch.empty()) return found;
  request.workload.shapes = found.model->shapes;
  ProviderRuns runs(sources.make_executor, *facts.runtime.identity, scratch);
  if (const auto opset = found.model->opsets.find(""); opset != found.model->opsets.end() && sources.load) {
    found.opset_supported = runs.supports_opset(opset->second);
    if (found.opset_supported == false) found.newest_opset = runs.newest_opset(opset->second);
  }
  if (sources.load) found.runs = runs.run(request.workload, usable_gpus(facts, sources), kModelS);
  return found;
}

}  // namespace

Facts gather_facts(const Sources& sources) {
  Facts facts;
  facts.passive = !sources.load;
  sources.on_progress("reading driver and GPUs");
  facts.driver = read_driver_facts(sources.visible_devices);
  facts.gpus = read_gpu_facts();
  const auto note_losses = loss_check(facts.gpus);
  facts.machine = read_machine_facts(sources.environment, sources.folders);
  facts.pythons = read_python_facts(sources.search);
  sources.on_progress("loading ONNX Runtime in a worker");
  facts.runtime = read_runtime(sources);
  sources.on_progress("opening libraries");
  facts.libraries = read_library_facts(facts.runtime, sources.search, sources.open_library);
  facts.recording = read_recording_facts(sources.inject_library, facts.driver, facts.pythons, sources.open_library);
  facts.video = read_video_facts(sources.open_library);
  const base::ScratchFolder scratch("doctor");
  if (sources.load) {
    sources.on_progress("running a small model");
    facts.smoke = smoke(facts, sources, scratch.path());
    const bool onnx = facts.runtime.identity.has_value();
    for (auto& gpu : facts.gpus) {
      if (!may_use(gpu.gpu, sources)) {
        gpu.load.emplace().error = messages::hidden();
        continue;
      }
      sources.on_progress(fmt::format("loading {}", gpu_label(gpu.gpu)));
      const auto executor = sources.make_executor(&gpu.gpu);
      // Without ONNX Runtime the synthetic kind lets the worker look at the GPU all the same.
      gpu.load = watch_gpu_load(*executor, onnx ? "onnx" : "synthetic",
                                onnx ? facts.runtime.identity->library_path : "", nvml_load_reader(gpu.gpu.uuid));
    }
  }
  if (!sources.model.empty()) {
    sources.on_progress("trying the model");
    facts.model = examine_model(facts, sources, scratch.path());
  }
  note_losses(facts.gpus);
  return facts;
}

}  // namespace ridgeline::doctor
