// SPDX-License-Identifier: Apache-2.0
#include "loader/dataset_links.hpp"

#include <array>
#include <vector>

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

struct ExternalLink {
  std::string file;
  std::string object;
};

constexpr std::size_t kMostNames = 12;

/// "; it has train/x, train/y": the datasets of a file or group, and links as the user named them.
std::string names_there(hid_t group, const std::string& prefix) {
  std::vector<std::string> names;
  const auto add = [](hid_t at, const char* name, const H5L_info_t* link, void* out) -> herr_t {
    auto& found = *static_cast<std::vector<std::string>*>(out);
    H5O_info_t object;
    if (link->type == H5L_TYPE_HARD &&
        (H5Oget_info_by_name2(at, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) < 0 || object.type != H5O_TYPE_DATASET))
      return 0;
    found.emplace_back(name);
    return found.size() > kMostNames ? 1 : 0;
  };
  if (H5Lvisit(group, H5_INDEX_NAME, H5_ITER_INC, add, &names) < 0) return "";
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "; it has " : ", ") + prefix + names[i];
  if (names.size() > kMostNames) text += ", ...";
  if (!text.empty()) return text;
  H5G_info_t info;
  return H5Gget_info(group, &info) >= 0 && info.nlinks == 0 ? "; it is empty" : "; it has no dataset";
}

/// The first part of a path that leads nowhere, and where it points if it is a soft link.
struct BrokenPart {
  std::string path;
  std::string target;
};

BrokenPart first_broken_part(hid_t file, const std::string& name) {
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const auto part = name.substr(0, end);
    H5L_info_t info;
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return {part, ""};
    if (H5Lget_info(file, part.c_str(), &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_SOFT &&
        H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0) {
      std::string target(info.u.val_size, '\0');
      H5Lget_val(file, part.c_str(), target.data(), target.size(), H5P_DEFAULT);
      return {part, target.c_str()};
    }
    if (end == std::string::npos) return {};
  }
}

/// Why H5Dopen2 failed; `reason`, `minor` and `followed` are from that call.
base::Error explain(hid_t file, const std::string& name, const std::string& reason, const Hdf5Minors& minors,
                    const std::vector<ExternalLink>& followed) {
  const Hdf5Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (object.valid() && H5Iget_type(object.get()) == H5I_GROUP)
    return {ErrorCode::invalid_argument,
            fmt::format("\"{}\" is a group, not a dataset{}", name, names_there(object.get(), name + "/"))};
  if (object.valid() && H5Iget_type(object.get()) == H5I_DATATYPE)
    return {ErrorCode::invalid_argument, fmt::format("\"{}\" is a named type, not a dataset", name)};
  if (too_new(reason))
    return {ErrorCode::unsupported,
            fmt::format("dataset \"{}\" was written by a newer HDF5 than {}, with which it is read here: {}", name,
                        hdf5_version(), reason),
            "write it again in an older format, in h5py with File(..., libver=(\"earliest\", \"v110\"))"};
  if (minors.has(H5E_NLINKS))
    return {ErrorCode::corrupt, fmt::format("dataset \"{}\" is a link that leads in a circle: {}", name, reason)};
  if (!followed.empty()) {
    const auto& link = followed.back();
    if (minors.has(H5E_CANTOPENFILE))
      return {ErrorCode::corrupt,
              fmt::format("dataset \"{}\" is an external link to \"{}\" of \"{}\", and that file cannot be opened",
                          name, link.object, link.file),
              fmt::format("put it into the folder of {}, or name its folder in HDF5_EXT_PREFIX",
                          path_of_file(file).filename().string())};
    return {ErrorCode::corrupt, fmt::format("dataset \"{}\" is an external link to \"{}\" of \"{}\", which cannot be "
                                            "opened: {}",
                                            name, link.object, link.file, reason)};
  }
  const auto broken = first_broken_part(file, name);
  if (!broken.target.empty())
    return {ErrorCode::corrupt, fmt::format("{} \"{}\" is a link to \"{}\", which does not exist",
                                            broken.path == name ? "dataset" : "group", broken.path, broken.target)};
  if (!broken.path.empty())
    return {ErrorCode::not_found, fmt::format("has no dataset \"{}\"{}", name, names_there(file, ""))};
  return {ErrorCode::corrupt, fmt::format("dataset \"{}\" cannot be opened: {}", name, reason)};
}

}  // namespace

std::filesystem::path path_of_file(hid_t id) {
  const auto length = H5Fget_name(id, nullptr, 0);
  if (length <= 0) return {};
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Fget_name(id, name.data(), name.size());
  return std::filesystem::absolute(name.c_str()).lexically_normal();
}

Result<NamedDataset> open_dataset(hid_t file, const std::string& name) {
  std::vector<ExternalLink> followed;
  const auto follow = [](const char*, const char*, const char* to_file, const char* to_object, unsigned*, hid_t,
                         void* out) -> herr_t {
    static_cast<std::vector<ExternalLink>*>(out)->push_back({to_file, to_object});
    return 0;
  };
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_elink_cb(access.get(), follow, &followed);
  NamedDataset opened;
  opened.dataset = Hdf5Handle(H5Dopen2(file, name.c_str(), access.get()), H5Dclose);
  if (!opened.dataset.valid()) {
    const auto reason = hdf5_reason();
    const auto minors = hdf5_minors();
    return tl::unexpected(explain(file, name, reason, minors, followed));
  }
  opened.owner = Hdf5Handle(H5Iget_file_id(opened.dataset.get()), H5Fclose);
  opened.through_external_link = !followed.empty();
  if (!opened.owner.valid())
    return fail(ErrorCode::corrupt, "dataset \"{}\": no file holds it: {}", name, hdf5_reason());
  return opened;
}

}  // namespace ridgeline::loader
