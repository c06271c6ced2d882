// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep/sweep_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "schema/sweep_command.hpp"

namespace ridgeline::campaign {

std::string SweepFiles::fingerprint(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const auto mtime = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  auto& known = known_[path];
  if (!known.fingerprint.empty() && known.size == info.st_size && known.mtime_ns == mtime) return known.fingerprint;
  known = {info.st_size, mtime, fmt::format("{} bytes of {}", info.st_size, mtime)};
  if (info.st_size <= kLargestHashed)
    if (auto hash = base::sha256_file(path)) known.fingerprint = std::move(*hash);
  return known.fingerprint;
}

std::vector<schema::SweepFile> SweepFiles::named_by(const schema::SweepTrialSpec& spec) {
  // The folder of a trial has another name each time and holds nothing that decides anything.
  const auto values = schema::substitutions(spec, "");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < spec.job.command.size(); ++i) {
    const auto word = schema::substitute(spec.job.command[i], values);
    names.push_back(i == 0 ? base::find_program(word) : word);
    if (const auto equals = word.find('='); i > 0 && equals != std::string::npos)
      names.push_back(word.substr(equals + 1));
  }
  names.insert(names.end(), spec.job.depends.begin(), spec.job.depends.end());
  std::vector<schema::SweepFile> out;
  for (const auto& name : names) {
    if (name.empty()) continue;
    const auto path = (std::filesystem::path(spec.job.directory) / name).lexically_normal().string();
    const bool listed = std::any_of(out.begin(), out.end(), [&](const auto& file) { return file.path == path; });
    if (auto content = fingerprint(path); !listed && !content.empty()) out.push_back({path, std::move(content)});
  }
  return out;
}

std::vector<schema::SweepFile> SweepFiles::unchanged(std::vector<schema::SweepFile> before) {
  before.erase(std::remove_if(before.begin(), before.end(),
                              [&](const auto& file) { return fingerprint(file.path) != file.fingerprint; }),
               before.end());
  return before;
}

}  // namespace ridgeline::campaign
