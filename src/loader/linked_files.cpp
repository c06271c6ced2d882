// SPDX-License-Identifier: Apache-2.0
#include "loader/linked_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"
#include "loader/library_child.hpp"
#include "loader/other_places.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::size_t kMostLinks = 50'000;   // 2 s
constexpr std::size_t kMostFiles = 100'000;  // of a folder
constexpr std::uint64_t kMostBlocks = 10'000;

/// Follows the links of one file after another.
class LinkWalk {
 public:
  explicit LinkWalk(const std::filesystem::path& path) : next_{std::filesystem::absolute(path).lexically_normal()} {
    seen_.insert(next_.front());
  }

  void go() {
    while (!next_.empty() && links_ < kMostLinks) {
      const auto path = next_.back();
      next_.pop_back();
      const auto file = open_hdf5(path.string());
      if (!file.valid()) continue;
      origin_ = path.parent_path();
      H5Lvisit(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &LinkWalk::on_link, this);
    }
  }

  [[nodiscard]] bool complete() const noexcept { return links_ < kMostLinks; }
  [[nodiscard]] const std::set<std::filesystem::path>& found() const noexcept { return found_; }

 private:
  static herr_t on_link(hid_t group, const char* name, const H5L_info_t* link, void* self) {
    return static_cast<LinkWalk*>(self)->follow(group, name, *link) ? 0 : 1;
  }

  bool follow(hid_t group, const char* name, const H5L_info_t& link) {
    if (++links_ >= kMostLinks) return false;
    if (link.type == H5L_TYPE_EXTERNAL) {
      std::string value(link.u.val_size, '\0');
      const char* file = nullptr;
      if (H5Lget_val(group, name, value.data(), value.size(), H5P_DEFAULT) >= 0 &&
          H5Lunpack_elink_val(value.data(), value.size(), nullptr, &file, nullptr) >= 0)
        add(file, "HDF5_EXT_PREFIX");
    } else if (link.type == H5L_TYPE_HARD) {
      H5O_info_t object;
      if (H5Oget_info_by_name2(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
          object.type == H5O_TYPE_DATASET)
        look_at(group, name);
    }
    return true;
  }

  void look_at(hid_t group, const char* name) {
    const Hdf5Handle dataset(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) return;
    const Hdf5Handle properties(H5Dget_create_plist(dataset.get()), H5Pclose);
    const int number = H5Pget_external_count(properties.get());
    for (int i = 0; i < number; ++i) {
      std::string file(4096, '\0');
      off_t offset = 0;
      hsize_t size = 0;
      if (H5Pget_external(properties.get(), static_cast<unsigned>(i), file.size(), file.data(), &offset, &size) >= 0)
        add(file.c_str(), "HDF5_EXTFILE_PREFIX");
    }
    if (H5Pget_layout(properties.get()) != H5D_VIRTUAL) return;
    std::size_t sources = 0;
    H5Pget_virtual_count(properties.get(), &sources);
    for (std::size_t i = 0; i < sources; ++i) {
      const auto pattern = virtual_name(H5Pget_virtual_filename, properties.get(), i);
      bool in_blocks = false;
      if (!add(expand_block(pattern, 0, in_blocks), "HDF5_VDS_PREFIX") || !in_blocks) continue;
      for (std::uint64_t block = 1; block < kMostBlocks; ++block)
        if (!add(expand_block(pattern, block, in_blocks), "HDF5_VDS_PREFIX")) break;
    }
  }

  /// Each file that the name may mean; whether there is one.
  bool add(const std::filesystem::path& name, const char* prefixes) {
    if (name == ".") return false;  // the file itself
    std::vector<std::filesystem::path> places{origin_ / name, std::filesystem::absolute(name)};
    for (const auto& prefix : base::split(hdf5_variable(prefixes), ':'))
      if (!prefix.empty()) places.push_back(std::filesystem::absolute(prefix_folder(prefix, origin_) / name));
    if (name.is_absolute()) places.push_back(origin_ / name.filename());
    bool any = false;
    for (const auto& place : places) {
      std::error_code ignored;
      const auto path = place.lexically_normal();
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      any = true;
      if (!seen_.insert(path).second) continue;
      found_.insert(path);
      next_.push_back(path);
    }
    return any;
  }

  std::vector<std::filesystem::path> next_;
  std::set<std::filesystem::path> seen_;
  std::set<std::filesystem::path> found_;
  std::filesystem::path origin_;  ///< folder of the file whose links are followed
  std::size_t links_ = 0;
};

/// "" for what is gone meanwhile.
std::string state_of(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{}/{}/{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

void add_folder(const std::filesystem::path& path, DataFingerprint& out) {
  std::vector<std::string> states;
  std::error_code error;
  const auto options = std::filesystem::directory_options::follow_directory_symlink |
                       std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator at(path, options, error), end; !error && at != end;
       at.increment(error)) {
    if (states.size() >= kMostFiles) {
      out.complete = false;
      break;
    }
    // A folder's own time is that of what was put into it or taken out.
    std::error_code ignored;
    if (at->is_regular_file(ignored))
      states.push_back(at->path().lexically_relative(path).string() + " " + state_of(at->path()));
  }
  std::sort(states.begin(), states.end());
  out.files = states.size();
  out.text += fmt::format("\n{}", fmt::join(states, "\n"));
}

}  // namespace

Result<LinkedFiles> find_linked_files(const std::filesystem::path& path) {
  const auto answer = from_library_child([&] {
    const std::lock_guard lock(hdf5_mutex());
    prepare_hdf5();
    LinkWalk walk(path);
    walk.go();
    std::string out = walk.complete() ? "+" : "-";
    for (const auto& file : walk.found()) out += file.string() + '\0';
    return out;
  });
  if (!answer && answer.error().code == ErrorCode::io)
    return tl::unexpected(base::Error(answer.error()).in(path.string()));
  LinkedFiles out;
  if (!answer || answer->empty()) return out;
  out.complete = answer->front() == '+';
  for (std::size_t at = 1; at < answer->size();) {
    const auto end = answer->find('\0', at);
    out.files.emplace_back(answer->substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Result<DataFingerprint> data_fingerprint(const std::filesystem::path& path) {
  DataFingerprint out;
  out.text = state_of(path);
  if (out.text.empty())
    return fail(ErrorCode::not_found, "{}: no such file or folder; expected the data that the training reads",
                path.string());
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    add_folder(path, out);
    return out;
  }
  out.files = 1;
  if (!std::filesystem::is_regular_file(path, ignored)) return out;
  RL_TRY_ASSIGN(const auto linked, find_linked_files(path));
  out.complete = linked.complete;
  for (const auto& file : linked.files) out.text += "\n" + state_of(file);
  out.files += linked.files.size();
  return out;
}

}  // namespace ridgeline::loader
