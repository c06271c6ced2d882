// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_library.hpp"

#include <dlfcn.h>

#include <algorithm>

#include <onnxruntime_c_api.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "schema/error_message.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/cuda_libraries.hpp"
#include "workload/onnx/elf_file.hpp"
#include "workload/onnx/file_memo.hpp"
#include "workload/onnx/gpu_library_names.hpp"
#include "workload/onnx/loaded_gpu_libraries.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

constexpr int kOldestApi = 17;  // SetDeterministicCompute came with it, the last function we call

using GetApiBase = const OrtApiBase* (*)();

// ONNX Runtime 1.N offers the tables up to N; asking for a later one makes it write to stderr.
int newest_api_of(const std::string& version) {
  const auto parts = base::split(version, '.');
  if (parts.size() < 2) return ORT_API_VERSION;
  const auto minor = base::parse_integer(parts[1], "version");
  if (!minor || parts[0] != "1") return ORT_API_VERSION;
  return static_cast<int>(std::min<std::int64_t>(*minor, ORT_API_VERSION));
}

/// The first library that the provider is linked to and that does not load. The provider itself is opened by ONNX
/// Runtime alone: without it the process ends in its constructors.
std::optional<schema::ProviderNote> missing_neighbour(const std::filesystem::path& file) {
  const auto dynamic = read_elf_dynamic(file);
  if (!dynamic) return schema::ProviderNote::of(dynamic.error());
  std::error_code error;
  for (const auto& needed : dynamic->needed) {
    const auto beside = file.parent_path() / needed;
    const auto path = std::filesystem::exists(beside, error) ? beside.string() : needed;
    if (::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) continue;
    const char* said = ::dlerror();
    return schema::ProviderNote{
        schema::messages::library_missing(
            {.library = needed, .user = file.string(), .why = said != nullptr ? said : "unknown reason"}),
        {},
        schema::messages::fix_package(),
        {needed}};
  }
  return std::nullopt;
}

/// Opens the provider's libraries and notes their versions; what keeps it from being used, if anything. The provider's
/// own file has none, so its hash stands for it.
base::Result<std::optional<schema::ProviderNote>> describe_provider(const std::filesystem::path& file,
                                                                    const schema::ExecutionProvider& provider,
                                                                    const OrtSearchEnvironment& environment,
                                                                    const FileMemo& memo,
                                                                    schema::RuntimeIdentity& identity) {
  RL_TRY_ASSIGN(const auto libraries, prepare_provider_libraries(file, environment));
  auto& versions = identity.provider_libraries[provider.id];
  RL_TRY_ASSIGN(const auto hash, memo.get(file, "sha256", [&] { return base::sha256_file(file); }));
  versions[file.filename().string()] = "sha256 " + hash.substr(0, 16);
  std::error_code error;
  for (const auto& opened : libraries.opened) {
    // The path may be a link whose target's name has the version.
    const auto target = std::filesystem::canonical(opened.path, error);
    const auto library = loaded_library(error ? opened.path : target);
    versions[library.name] = library.version;
  }
  auto problem = libraries.problem();
  if (!problem && !provider.on_gpu()) problem = missing_neighbour(file);
  return problem;
}

}  // namespace

base::Result<OrtLibrary> OrtLibrary::open_file(const std::string& file) {
  RL_TRY_ASSIGN(auto library, base::DynamicLibrary::open_file(file));
  void* symbol = library.symbol("OrtGetApiBase");
  if (symbol == nullptr)
    return base::fail(ErrorCode::unavailable, "{}: has no OrtGetApiBase, so it is not an ONNX Runtime library", file);
  const OrtApiBase* api_base = reinterpret_cast<GetApiBase>(symbol)();
  std::string version = api_base->GetVersionString();
  const int newest = newest_api_of(version);
  if (newest < kOldestApi)
    return base::fail(ErrorCode::unavailable, "{}: library too old: ONNX Runtime {}, at least 1.{}.0 is needed", file,
                      version, kOldestApi)
        .hint("use a newer ONNX Runtime with --ort-library FILE");
  for (int number = newest; number >= kOldestApi; --number)
    if (const OrtApi* api = api_base->GetApi(static_cast<std::uint32_t>(number)); api != nullptr)
      return OrtLibrary(std::move(library), api, number, std::move(version));
  return base::fail(ErrorCode::unavailable, "{}: ONNX Runtime {} offers no C API between {} and {}", file, version,
                    kOldestApi, newest);
}

base::Result<OrtLibrary> OrtLibrary::open(const std::string& library, const OrtSearchEnvironment& environment) {
  const auto found = find_runtimes({library, {}, {}}, environment);
  std::vector<schema::Message> reasons;
  for (const auto& runtime : found.runtimes) {
    base::Result<OrtLibrary> opened = base::fail(ErrorCode::unavailable, "{}", schema::own_text(runtime.problem));
    if (runtime.problem.empty()) opened = open_file(runtime.library_path);
    if (opened) return opened;
    if (runtime.pinned)
      return base::fail(ErrorCode::unavailable,
                        "{}; expected libonnxruntime.so of version 1.{} or later, or a folder that holds it",
                        opened.error().message, kOldestApi)
          .hint("name another, or leave it out");
    reasons.push_back(schema::message_of(opened.error()));
  }
  return tl::unexpected(found.none_usable(reasons));
}

base::Result<std::vector<std::string>> OrtLibrary::providers() const {
  char** names = nullptr;
  int count = 0;
  RL_TRY(check_ort(*api_, api_->GetAvailableProviders(&names, &count)));
  std::vector<std::string> providers(names, names + count);
  RL_TRY(check_ort(*api_, api_->ReleaseAvailableProviders(names, count)));
  return providers;
}

base::Result<schema::RuntimeIdentity> OrtLibrary::identity(const OrtSearchEnvironment& environment) const {
  schema::RuntimeIdentity identity;
  identity.name = "onnxruntime";
  identity.version = version_;
  identity.library_path = path().string();
  const FileMemo memo(environment.cache.empty() ? std::filesystem::path() : environment.cache / "libraries");
  RL_TRY_ASSIGN(identity.library_sha256, memo.get(path(), "sha256", [&] { return base::sha256_file(path()); }));
  RL_TRY_ASSIGN(identity.providers, providers());
  bool on_gpu = false;
  for (const auto& provider : schema::execution_providers()) {
    if (provider.file.empty() || !identity.offers(provider)) continue;
    if (auto missing = missing_provider_file(path(), provider)) {
      identity.provider_notes[provider.id] = *std::move(missing);
      continue;
    }
    on_gpu = on_gpu || provider.on_gpu();
    const auto described =
        describe_provider(path().parent_path() / provider.file, provider, environment, memo, identity);
    if (!described)
      identity.provider_notes[provider.id] = schema::ProviderNote::of(described.error());
    else if (*described)
      identity.provider_notes[provider.id] = **described;
  }
  if (on_gpu) identity.loaded_libraries = describe(loaded_gpu_libraries());
  return identity;
}

}  // namespace ridgeline::workload
