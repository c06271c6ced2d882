// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/training_python.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "execute/training_child.hpp"

namespace ridgeline::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

constexpr double kPackagesLimitS = 60;
constexpr const char* kName = "python3";

/// Every python3 of PATH, in its order, then Debian's own. Links to the same program are not the same interpreter: each
/// virtual environment is one.
std::vector<std::string> interpreters() {
  const char* const set = std::getenv("PATH");
  std::vector<fs::path> folders;
  std::vector<std::string> out;
  for (const auto& name : base::split(fmt::format("{}:/usr/bin", set != nullptr ? set : ""), ':')) {
    if (name.empty()) continue;
    std::error_code failed;
    const auto folder = fs::canonical(std::string(name), failed);
    if (failed || std::find(folders.begin(), folders.end(), folder) != folders.end()) continue;
    folders.push_back(folder);
    if (auto found = base::find_program((folder / kName).string()); !found.empty()) out.push_back(std::move(found));
  }
  return out;
}

struct Packages {
  bool torch = false;
  bool h5py = false;
};

/// What the interpreter has, without importing it.
Result<Packages> packages_of(const std::string& interpreter, const ChildTerms& terms) {
  RL_TRY_ASSIGN(auto options, models_child(interpreter, terms));
  options.what = "the Python process";
  execute::TrainingChild child(std::move(options));
  auto answer = child.ask({{"op", "packages"}}, kPackagesLimitS);
  if (!answer) return tl::unexpected<base::Error>(std::move(answer).error().error);
  child.close();
  return Packages{answer->value("torch", false), answer->value("h5py", false)};
}

}  // namespace

Result<std::string> find_training_python(const std::string& named, bool reads_file, const ChildTerms& terms) {
  std::vector<std::string> candidates;
  if (named.empty())
    candidates = interpreters();
  else if (auto found = base::find_program(named); !found.empty())
    candidates = {std::move(found)};
  if (candidates.empty())
    return fail(ErrorCode::not_found, "no Python interpreter {}", named.empty() ? "python3 in PATH" : named)
        .hint("name one that has torch with --python-exe");
  std::optional<std::string> lacks_h5py;
  for (const auto& candidate : candidates) {
    const auto packages = packages_of(candidate, terms);
    if (!packages && (!named.empty() || packages.error().code == ErrorCode::cancelled))
      return tl::unexpected<base::Error>(packages.error());
    if (!packages || !packages->torch) continue;
    if (packages->h5py || !reads_file) return candidate;
    if (!lacks_h5py) lacks_h5py = candidate;
  }
  if (lacks_h5py)
    return fail(ErrorCode::not_found, "reading HDF5 files needs h5py, which {} does not have", *lacks_h5py)
        .hint("install it: {} -m pip install h5py, or apt install python3-h5py", *lacks_h5py);
  return fail(ErrorCode::not_found, "built-in models need torch, which {} {} not have", fmt::join(candidates, " and "),
              candidates.size() == 1 ? "does" : "do")
      .hint(
          "install it (pip install torch h5py, or apt install python3-torch python3-h5py), or name an interpreter that "
          "has it with --python-exe");
}

}  // namespace ridgeline::app
