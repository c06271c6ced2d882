// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/profile_flags.hpp"

#include <unistd.h>

#include <filesystem>

#include "ridgeline/flag_values.hpp"

namespace ridgeline::app {

namespace fs = std::filesystem;

report::ModuleView ProfileFlags::view() const {
  report::ModuleView view;
  view.depth = depth;
  view.order = sort == "calls"   ? report::ModuleOrder::calls
               : sort == "bytes" ? report::ModuleOrder::bytes
               : sort == "name"  ? report::ModuleOrder::name
                                 : report::ModuleOrder::time;
  return view;
}

std::string ProfileFlags::trace_folder(const Context& context) const {
  return no_keep_trace ? "" : (context.database_path().parent_path() / "traces").string();
}

std::vector<std::string> ProfileFlags::existing_files() const {
  std::vector<std::string> out{json_file(), perfetto, chrome};
  if (!csv.empty()) out.push_back((fs::path(csv) / "kernels.csv").string());
  for (const auto& file : report.files()) out.push_back(file.path);
  std::error_code ignored;
  std::erase_if(out, [&](const auto& file) { return file.empty() || !fs::is_regular_file(file, ignored); });
  return out;
}

void add_profile_flags(CLI::App& command, Context& context, ProfileFlags& flags) {
  command.option_defaults()->group("Display");
  add_number(command, "--depth", flags.depth, 1, 1000,
             "Levels of the module tree (default: modules that take at least 1 % of the time)")
      ->default_str("");
  add_choice(command, context, "--sort", flags.sort, {"time", "calls", "bytes", "name"}, "Sort order of the modules");
  command.add_option("--kernel", flags.kernel, "Show one kernel in detail: the longest whose name contains NAME")
      ->type_name("NAME");
  command.option_defaults()->group("Output");
  add_report_flags(command, flags.report);
  command.add_option("--csv", flags.csv, "Write every table as CSV to this folder")->type_name("FOLDER");
  command.add_option("--perfetto", flags.perfetto, "Write the timeline for ui.perfetto.dev")->type_name("FILE");
  command.add_option("--chrome", flags.chrome, "Write the timeline as Chrome JSON; compressed if the name ends in .gz")
      ->type_name("FILE");
  command.add_flag("--no-keep-trace", flags.no_keep_trace,
                   "Do not keep the events as traces/RUN.rltrace next to the results file");
  command
      .add_flag("--json", flags.json_to,
                "Print the run as JSON on standard output; --json=FILE writes it to a file instead")
      ->type_name("[=FILE]");
  add_database_option(command, context);
  command.add_flag("-q,--quiet", flags.quiet, "Print only errors");
}

namespace {

base::Result<void> check_writable_folder(const char* option, const std::string& path, const fs::path& folder) {
  if (::access(folder.c_str(), W_OK) == 0) return {};
  return base::fail(base::ErrorCode::io, "{} {}: the folder {} is not writable", option, path, folder.string())
      .hint("choose another place");
}

/// The part of a folder's path that is there already can be written to.
base::Result<void> check_new_folder(const char* option, const std::string& path) {
  std::error_code error;
  auto folder = fs::absolute(path, error);
  if (path.empty() || error) return {};
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, error))
    return base::fail(base::ErrorCode::invalid_argument, "{} {}: {} is a file; expected a folder", option, path,
                      folder.string());
  return check_writable_folder(option, path, folder);
}

base::Result<void> check_new_file(const char* option, const std::string& path) {
  std::error_code ignored;
  if (path.empty()) return {};
  if (fs::is_directory(path, ignored))
    return base::fail(base::ErrorCode::invalid_argument, "{} {}: is a folder; expected a file name", option, path);
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return {};  // a device
  const auto parent = fs::path(path).parent_path();
  const auto folder = parent.empty() ? fs::path(".") : parent;
  if (!fs::is_directory(folder, ignored))
    return base::fail(base::ErrorCode::not_found, "{} {}: the folder {} does not exist", option, path, folder.string())
        .hint("create it first");
  return check_writable_folder(option, path, folder);
}

}  // namespace

base::Result<void> check_profile_flags(const ProfileFlags& flags) {
  RL_TRY(check_report_flags(flags.report));
  std::error_code ignored;
  if (!flags.csv.empty() && std::filesystem::exists(flags.csv, ignored) &&
      !std::filesystem::is_directory(flags.csv, ignored))
    return base::fail(base::ErrorCode::invalid_argument, "--csv {}: is a file; expected a folder", flags.csv)
        .hint("for example --csv {}_tables", flags.csv);
  RL_TRY(check_new_folder("--csv", flags.csv));
  RL_TRY(check_new_file("--perfetto", flags.perfetto));
  RL_TRY(check_new_file("--chrome", flags.chrome));
  RL_TRY(check_new_file("--json", flags.json_file()));
  return {};
}

}  // namespace ridgeline::app
