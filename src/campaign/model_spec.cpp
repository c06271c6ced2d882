// SPDX-License-Identifier: Apache-2.0
#include "campaign/model_spec.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "campaign/messages.hpp"
#include "execute/calls.hpp"
#include "execute/found_runtimes.hpp"

namespace ridgeline::campaign {

base::Result<FoundModel> find_model_spec(const ModelWanted& wanted, execute::Executor& executor,
                                         const schema::Environment& environment, std::vector<schema::Message>& notes) {
  schema::TrialSpec spec;
  spec.workload = wanted.workload;
  for (auto& file : spec.workload.input_files) {
    RL_TRY_ASSIGN(file.sha256, base::sha256_file(file.path));
  }
  RL_TRY_ASSIGN(auto model, execute::inspect(executor, {spec.workload, wanted.where.library}));
  spec.workload.shapes = model.shapes;
  spec.workload.input_values = model.input_values;
  for (const auto& note : model.input_notes) notes.push_back(messages::model_input(note));
  spec.workload.content_sha256 = model.sha256;
  for (const auto& input : model.inputs)
    if (std::any_of(input.dim_names.begin(), input.dim_names.end(), [](const auto& name) { return !name.empty(); }))
      spec.workload.dim_names[input.name] = input.dim_names;
  notes.insert(notes.end(), model.notes.begin(), model.notes.end());
  RL_TRY_ASSIGN(auto runtimes, execute::FoundRuntimes::find(executor, spec.workload.kind, wanted.where));
  RL_TRY_ASSIGN(auto chosen, runtimes.choose(wanted.provider, environment));
  RL_TRY(runtimes.check_named_plugins(chosen.index));
  const auto& identity = runtimes.ask(chosen.index);
  if (!identity) return tl::unexpected<base::Error>(identity.error());
  spec.runtime = *identity;
  spec.provider = std::move(chosen.provider);
  spec.plugin = std::move(chosen.plugin);
  notes.insert(notes.end(), chosen.notes.begin(), chosen.notes.end());
  spec.device =
      !spec.on_gpu() || environment.gpus.empty() ? environment.cpu_device_id() : "gpu:" + environment.gpus.front().uuid;
  spec.configuration = wanted.configuration;
  return FoundModel{std::move(spec), std::move(model)};
}

}  // namespace ridgeline::campaign
