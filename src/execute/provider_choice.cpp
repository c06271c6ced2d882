// SPDX-License-Identifier: Apache-2.0
#include "execute/provider_choice.hpp"
#include "execute/messages.hpp"
#include "schema/error_message.hpp"

#include <algorithm>
#include <string_view>

namespace ridgeline::execute {

using base::ErrorCode;

namespace {

/// A machine without a driver and without a runtime for GPUs is one without a GPU; on others it should have been seen.
schema::Message unseen_gpu_note(const schema::RuntimeIdentity& runtime, const schema::Environment& environment) {
  const auto& note = environment.gpu_note;
  const auto& provider = schema::usual_gpu_provider();
  const auto* reason = runtime.why_not(provider);
  const auto said = note.arguments().value("why", "");  // by the dynamic loader
  const bool driver = said.find("libnvidia-ml.so.1: cannot open shared object file") == std::string::npos;
  const bool all_but_the_driver =
      runtime.offers(provider) && (reason == nullptr || reason->missing == std::vector<std::string>{"libcuda.so.1"});
  if (note.empty() || (!driver && !all_but_the_driver)) return {};
  return messages::cpu_is_tuned(note);
}

base::Error no_plugin(const schema::ExecutionProvider& provider, const schema::RuntimeIdentity& runtime) {
  for (const auto& library : runtime.plugins) {
    const auto file = library.library_path.substr(library.library_path.rfind('/') + 1);
    if (schema::find_plugin_in(file) != &provider) continue;
    const bool hinted = library.note && !library.note->hint.empty();
    return {ErrorCode::unavailable,
            fmt::format("provider \"{}\" cannot be used with {} {} at {}: {}", provider.id, runtime.name,
                        runtime.version, runtime.library_path,
                        library.note ? schema::own_text(library.note->reason())
                                     : library.library_path + " offers no device here"),
            schema::own_text(hinted ? library.note->hint : provider.instead)};
  }
  return {ErrorCode::unavailable,
          fmt::format("provider \"{}\": no plug-in was found beside {} {} at {} that offers it", provider.id,
                      runtime.name, runtime.version, runtime.library_path),
          "install its package in the same Python environment, or name its library with --ep-library FILE"};
}

}  // namespace

base::Result<std::string> resolve_provider(const std::string& asked, const schema::RuntimeIdentity& runtime,
                                           const schema::Environment& environment) {
  if (asked.empty() || asked == "auto") {
    for (const auto* provider : schema::auto_providers())
      if (provider->on_gpu() && !environment.gpus.empty() && runtime.offers(*provider) &&
          runtime.why_not(*provider) == nullptr)
        return provider->id;
    const auto& torch = schema::torch_providers().front();
    return runtime.name == torch.engine ? torch.id : schema::cpu_provider().id;
  }
  const auto& provider = schema::provider_of(asked);
  if (provider.file.empty() && !provider.plugin) return asked;
  if (provider.on_gpu() && environment.gpus.empty())
    return base::fail(ErrorCode::unavailable, "provider \"{}\" needs an NVIDIA GPU, none was found{}{}", asked,
                      environment.gpu_note.empty() ? "" : ": ", schema::own_text(environment.gpu_note))
        .hint("use --provider cpu, or see ridgeline doctor");
  if (provider.plugin && !runtime.offers(provider)) return tl::unexpected(no_plugin(provider, runtime));
  if (!runtime.offers(provider))
    return base::fail(ErrorCode::unavailable, "provider \"{}\": {} {} at {} was built without {}", asked, runtime.name,
                      runtime.version, runtime.library_path, provider.library_name)
        .hint("use --provider cpu or another library with --ort-library");
  if (const auto* note = runtime.why_not(provider); note != nullptr)
    return base::fail(ErrorCode::unavailable, "provider \"{}\" cannot be used: {}", asked,
                      schema::own_text(note->reason()))
        .hint("{}", schema::own_text(note->hint));
  for (const auto& id : provider.fallbacks)
    if (const auto* note = runtime.why_not(schema::provider_of(id)); note != nullptr)
      return base::fail(ErrorCode::unavailable,
                        "provider \"{}\" cannot be used: its sessions load the {} provider too, and {}", asked,
                        schema::provider_of(id).title, schema::own_text(note->reason()))
          .hint("{}", schema::own_text(note->hint));
  return asked;
}

schema::Message idle_gpu_note(const std::string& provider, const schema::RuntimeIdentity& runtime,
                              const schema::Environment& environment) {
  if (schema::runs_on_gpu(provider) || runtime.name != "onnxruntime") return {};
  if (environment.gpus.empty()) return unseen_gpu_note(runtime, environment);
  const auto& unused = schema::usual_gpu_provider();
  const auto* note = runtime.why_not(unused);
  messages::GpuIdle idle{.gpu = environment.gpus.front().name};
  if (note != nullptr) {
    idle.why = note->reason();
    idle.hint = note->hint;
  } else {
    idle.why = messages::gpu_build_lacks({.runtime = runtime.name,
                                          .version = runtime.version,
                                          .library = runtime.library_path,
                                          .provider = unused.title});
  }
  return messages::gpu_idle(idle);
}

}  // namespace ridgeline::execute
