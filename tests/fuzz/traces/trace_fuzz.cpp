// SPDX-License-Identifier: Apache-2.0
// Imports damaged traces of one kind and analyses whatever comes through. The inputs are those of tests/fuzz/corpus.
//   rl_trace_fuzz KIND --corpus FOLDER --work FOLDER [--iterations N] [--seconds N] [--seed N]
//   rl_trace_fuzz KIND --corpus FOLDER --work FOLDER --file FILE
// KIND: kineto, onnxruntime, ncu, nsys, snapshot, ridgeline. Every input as it is comes first, then the damaged ones.
// The one that is being read is in the work folder, where it stays if the program dies. --file reads one such.
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "fuzz/traces/trace_inputs.hpp"
#include "fuzz/traces/trace_properties.hpp"
#include "trace/file/trace_writer.hpp"
#include "trace/import/import_file.hpp"
#include "trace/import/kineto_import.hpp"

namespace {

using namespace ridgeline;
using trace::FileKind;

constexpr int kHangSeconds = 30;

/// Ends the program after so many seconds of processor time: by the clock, a machine that pauses would look like a
/// hang.
void limit_time(int seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

struct Options {
  std::string kind;
  std::filesystem::path corpus;
  std::filesystem::path work;
  std::string file;
  std::uint64_t iterations = 0;
  double seconds = 1e9;
  std::uint64_t seed = 1;
};

struct KnownKind {
  const char* name;
  FileKind kind;
  const char* prefix;  ///< of the corpus' files
};
constexpr std::array<KnownKind, 6> kKinds{{{"kineto", FileKind::kineto, "kineto"},
                                           {"onnxruntime", FileKind::onnxruntime, "onnxruntime"},
                                           {"ncu", FileKind::ncu, "ncu"},
                                           {"nsys", FileKind::nsys, "nsys"},
                                           {"snapshot", FileKind::snapshot, "snapshot"},
                                           {"ridgeline", FileKind::ridgeline, ""}}};

std::string bytes_of(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::vector<std::string> seeds_of(const std::filesystem::path& corpus, const std::string& prefix) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(corpus))
    if (entry.path().filename().string().starts_with(prefix)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> out;
  for (const auto& path : paths) out.push_back(bytes_of(path));
  return out;
}

/// Trace files of what the corpus has of other kinds.
std::vector<std::string> own_seeds(const Options& options) {
  std::vector<std::string> out;
  const auto path = options.work / "seed.rltrace";
  for (const auto* seed : {"kineto.json", "onnxruntime.json", "snapshot_training4.pickle"}) {
    const auto imported = trace::import_file((options.corpus / seed).string());
    if (!imported || !trace::write_trace_file(*imported->trace, path.string())) return {};
    out.push_back(bytes_of(path));
  }
  return out;
}

std::unique_ptr<fuzz::TraceInputs> inputs_of(const Options& options, const KnownKind& known) {
  if (known.kind == FileKind::ridgeline) return fuzz::block_inputs(own_seeds(options));
  auto seeds = seeds_of(options.corpus, known.prefix);
  if (known.kind == FileKind::nsys) return fuzz::sqlite_inputs(std::move(seeds), options.work / "seed.sqlite");
  if (known.kind == FileKind::snapshot) return fuzz::pickle_inputs(std::move(seeds));
  return fuzz::text_inputs(std::move(seeds));
}

int run(const Options& options, const KnownKind& known) {
  const auto companion = trace::import_kineto((options.corpus / "kineto.json").string());
  if (!companion) {
    fmt::print(stderr, "error: {}\n", companion.error().message);
    return 2;
  }
  trace::AnalysedTrace analysed(*companion);
  const auto path = (options.work / fmt::format("input.{}", known.name)).string();
  const auto again = (options.work / "again.rltrace").string();
  const auto look = [&](const std::string& file, bool write_again) {
    limit_time(kHangSeconds);
    auto verdict = fuzz::look_at(file, known.kind, write_again ? again : "", analysed);
    limit_time(0);
    if (!verdict.broken.empty()) fmt::print(stderr, "broken property: {}: {}\n", file, verdict.broken);
    return verdict;
  };
  if (!options.file.empty()) return look(options.file, true).broken.empty() ? 0 : 1;
  const auto inputs = inputs_of(options, known);
  if (inputs->seeds() == 0) {
    fmt::print(stderr, "error: {}: no inputs of the kind {}\n", options.corpus.string(), known.name);
    return 2;
  }
  for (std::size_t seed = 0; seed < inputs->seeds(); ++seed) {
    inputs->write(seed, path);
    const auto verdict = look(path, true);
    if (!verdict.broken.empty()) return 1;
    if (!verdict.imported) {
      fmt::print(stderr, "broken property: input {} of the kind {} is not imported\n", seed + 1, known.name);
      return 1;
    }
  }
  fuzz::Mutator mutator(options.seed);
  const auto begun = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  std::uint64_t done = 0;
  std::uint64_t imported = 0;
  for (; done < options.iterations && (done % 64 != 0 || elapsed() < options.seconds); ++done) {
    inputs->write_damaged(mutator.below(inputs->seeds()), mutator, path);
    const auto verdict = look(path, mutator.one_in(16));
    if (!verdict.broken.empty()) return 1;
    imported += verdict.imported ? 1U : 0U;
  }
  std::filesystem::remove(path);
  fmt::print("{}: {} inputs as they are, {} damaged ones of which {} were imported, {:.0f} s\n", known.name,
             inputs->seeds(), done, imported, elapsed());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc > 1) options.kind = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const char* value = argv[i + 1];
    if (flag == "--corpus") options.corpus = value;
    if (flag == "--work") options.work = value;
    if (flag == "--file") options.file = value;
    if (flag == "--iterations") options.iterations = std::strtoull(value, nullptr, 10);
    if (flag == "--seconds") options.seconds = std::strtod(value, nullptr);
    if (flag == "--seed") options.seed = std::strtoull(value, nullptr, 10);
  }
  const auto* known =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& kind) { return options.kind == kind.name; });
  if (known == kKinds.end() || options.corpus.empty() || options.work.empty()) {
    std::fputs("rl_trace_fuzz kineto|onnxruntime|ncu|nsys|snapshot|ridgeline --corpus FOLDER --work FOLDER ...\n",
               stderr);
    return 2;
  }
  std::filesystem::create_directories(options.work);
  return run(options, *known);
}
