// SPDX-License-Identifier: Apache-2.0
#include "trace/import/nsys_report.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/subprocess.hpp"
#include "base/text.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

/// All that it prints until it ends.
std::string drain(base::Subprocess& child) {
  std::string text;
  for (;;) {
    pollfd ready{child.output_fd(), POLLIN, 0};
    if (::poll(&ready, 1, -1) <= 0) break;
    std::array<char, 4096> bytes{};
    const auto got = ::read(child.output_fd(), bytes.data(), bytes.size());
    if (got <= 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(got));
    if (text.size() > (std::size_t{1} << 20U)) text.erase(0, text.size() / 2);
  }
  return text;
}

std::string last_line(const std::string& text) {
  std::string line;
  for (const auto& one : base::split(text, '\n'))
    if (const auto trimmed = base::trim(one); !trimmed.empty()) line = trimmed;
  return line;
}

}  // namespace

bool is_nsys_report(const std::string& path) { return path.ends_with(".nsys-rep") || path.ends_with(".qdrep"); }

Result<std::string> export_nsys_report(const std::string& path, const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return base::fail(ErrorCode::io, "{}: no such file", path);
  const auto made = (std::filesystem::path(folder) / "export.sqlite").string();
  auto child = base::Subprocess::spawn(
      {.argv = {"nsys", "export", "--type", "sqlite", "--force-overwrite", "true", "--output", made, path}});
  if (!child)
    return base::fail(ErrorCode::unsupported, "{}: nsys, which reads recordings of Nsight Systems, is not in PATH",
                      path)
        .hint("where it is: nsys export --type sqlite {}, then import the .sqlite", path);
  const auto printed = drain(*child);
  const auto status = child->wait();
  if (status.exit_code != 0 || !std::filesystem::exists(made, ignored))
    return base::fail(ErrorCode::io, "{}: nsys export failed: {}", path,
                      last_line(printed).empty() ? "it printed nothing" : last_line(printed))
        .hint("run it by hand: nsys export --type sqlite {}", path);
  return made;
}

}  // namespace ridgeline::trace
