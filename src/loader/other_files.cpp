// SPDX-License-Identifier: Apache-2.0
#include "loader/other_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "loader/dataset_links.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/other_places.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr unsigned kDeepest = 8;  // virtual datasets of virtual datasets

std::vector<hsize_t> extents_of(hid_t space) {
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 0)));
  if (!extents.empty()) H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return extents;
}

std::uint64_t product(const std::vector<hsize_t>& extents) {
  std::uint64_t all = 1;
  for (const auto extent : extents) all *= extent;
  return all;
}

struct AxisSelection {
  hsize_t start = 0, stride = 1, count = 1, block = 1;

  /// Selected places below `extent`; count or block may be without limit.
  [[nodiscard]] std::uint64_t below(hsize_t extent) const {
    if (extent <= start) return 0;
    const auto length = extent - start;
    if (block == H5S_UNLIMITED) return length;
    const auto whole = length / stride;
    if (count != H5S_UNLIMITED && whole >= count) return count * block;
    return whole * block + std::min(length % stride, block);
  }
};

/// One axis after another of a regular selection; empty for any other.
std::vector<AxisSelection> axes_of(hid_t space) {
  const auto rank = extents_of(space).size();
  if (rank == 0 || H5Sget_select_type(space) != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0) return {};
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank);
  if (H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0) return {};
  std::vector<AxisSelection> axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back({start[i], stride[i], count[i], block[i]});
  return axes;
}

/// Values of a selection within the dataset's present shape.
std::uint64_t selected(hid_t space, const std::vector<AxisSelection>& axes, const std::vector<hsize_t>& shape) {
  if (H5Sget_select_type(space) == H5S_SEL_ALL) return product(shape);
  if (axes.size() == shape.size() && !axes.empty()) {
    std::uint64_t all = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) all *= axes[i].below(shape[i]);
    return all;
  }
  const auto points = H5Sget_select_npoints(space);
  return points < 0 ? 0 : static_cast<std::uint64_t>(points);
}

Result<void> check_external(hid_t dataset, hid_t properties, const std::string& name) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  auto left = product(extents_of(space.get())) * H5Tget_size(type.get());
  const auto origin = path_of_file(dataset).parent_path();
  const int number = H5Pget_external_count(properties);
  for (int i = 0; i < number && left > 0; ++i) {
    std::string file(4096, '\0');
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(properties, static_cast<unsigned>(i), file.size(), file.data(), &offset, &size) < 0)
      return fail(ErrorCode::corrupt, "dataset \"{}\": its external files are not known: {}", name, hdf5_reason());
    file = file.c_str();
    const auto part = size == H5F_UNLIMITED ? left : std::min<std::uint64_t>(left, size);
    const auto path = prefix_folder(hdf5_variable("HDF5_EXTFILE_PREFIX"), origin) / file;
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    if (error)
      return fail(ErrorCode::corrupt, "dataset \"{}\": its values are in the external file {}: {}", name, path.string(),
                  error.message())
          .hint(
              "start in the folder that the name counts from, or name it: HDF5_EXTFILE_PREFIX='${{ORIGIN}}' is the "
              "folder of the HDF5 file");
    if (bytes < static_cast<std::uint64_t>(offset) + part)
      return fail(
                 ErrorCode::corrupt,
                 "dataset \"{}\": its external file {} has {} bytes, expected {}; the library would read zeros for the "
                 "rest",
                 name, path.string(), bytes, static_cast<std::uint64_t>(offset) + part)
          .hint("copy the file again");
    left -= part;
  }
  return {};
}

Result<std::vector<std::string>> check_at(hid_t dataset, const std::string& name, unsigned depth);

/// The sources of a virtual dataset, each looked for where the library looks.
class VirtualCheck {
 public:
  VirtualCheck(hid_t dataset, hid_t properties, const std::string& name, unsigned depth)
      : properties_(properties), name_(name), owner_(path_of_file(dataset)), depth_(depth) {
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
    shape_ = extents_of(space.get());
  }

  Result<std::vector<std::string>> check() {
    std::size_t number = 0;
    H5Pget_virtual_count(properties_, &number);
    for (std::size_t i = 0; i < number; ++i) RL_TRY(check_mapping(i));
    const auto all = product(shape_);
    if (missing_ > 0 && missing_ == sources_.size())
      return fail(ErrorCode::corrupt, "virtual dataset \"{}\": no value is there, {} missing: {}", name_,
                  missing_ == 1 ? "its source is" : fmt::format("all of its {} sources are", missing_), first_missing_)
          .hint("put the source into the folder of {}, or name its folder in HDF5_VDS_PREFIX",
                owner_.filename().string());
    if (missing_ > 0)
      notes_.push_back(fmt::format(
          "dataset \"{}\": {} of {} values are only the fill value, as {} of {} sources {} missing: {}", name_,
          missing_values_, all, missing_, sources_.size(), missing_ == 1 ? "is" : "are", first_missing_));
    if (mapped_ < all)
      notes_.push_back(fmt::format("dataset \"{}\": {} of {} values are only the fill value, as no source has them",
                                   name_, all - mapped_, all));
    return std::move(notes_);
  }

 private:
  Result<void> check_mapping(std::size_t index) {
    const auto file = virtual_name(H5Pget_virtual_filename, properties_, index);
    const auto dataset = virtual_name(H5Pget_virtual_dsetname, properties_, index);
    const Hdf5Handle space(H5Pget_virtual_vspace(properties_, index), H5Sclose);
    const Hdf5Handle source_space(H5Pget_virtual_srcspace(properties_, index), H5Sclose);
    const auto axes = axes_of(space.get());
    mapped_ += selected(space.get(), axes, shape_);
    bool in_blocks = false;
    auto first_file = expand_block(file, 0, in_blocks);
    auto first_dataset = expand_block(dataset, 0, in_blocks);
    if (!in_blocks)
      return check_source(first_file, first_dataset, source_space.get(), selected(space.get(), axes, shape_));
    const auto unlimited =
        std::find_if(axes.begin(), axes.end(), [](const AxisSelection& axis) { return axis.count == H5S_UNLIMITED; });
    if (unlimited == axes.end()) return {};
    const auto along = static_cast<std::size_t>(unlimited - axes.begin());
    auto until = shape_;
    std::uint64_t before = 0;
    for (std::uint64_t block = 0; unlimited->start + block * unlimited->stride < shape_[along]; ++block) {
      until[along] = std::min(shape_[along], unlimited->start + block * unlimited->stride + unlimited->block);
      const auto values = selected(space.get(), axes, until);
      RL_TRY(check_source(expand_block(file, block, in_blocks), expand_block(dataset, block, in_blocks),
                          source_space.get(), values - before));
      before = values;
    }
    return {};
  }

  Result<void> check_source(const std::string& file, const std::string& dataset, hid_t selection,
                            std::uint64_t values) {
    const auto [known, is_new] = sources_.try_emplace({file, dataset});
    auto& source = known->second;
    if (is_new) RL_TRY(look_at(file, dataset, source));
    if (!source.missing.empty()) {
      if (is_new) ++missing_;
      if (first_missing_.empty()) first_missing_ = source.missing;
      missing_values_ += values;
      return {};
    }
    const auto too_small = [&](std::uint64_t has, std::string_view of, std::uint64_t wanted) {
      return fail(ErrorCode::corrupt, "virtual dataset \"{}\": its source \"{}\" of \"{}\" has {} {}, expected {}",
                  name_, dataset, file, has, of, wanted)
          .hint("write the source again, or the virtual dataset for what is there");
    };
    if (H5Sget_select_type(selection) == H5S_SEL_ALL) {  // of whatever is there, so the numbers must agree
      if (product(source.shape) != values) return too_small(product(source.shape), "values", values);
      return {};
    }
    const auto axes = axes_of(selection);
    const auto unlimited = [](const AxisSelection& axis) {
      return axis.count == H5S_UNLIMITED || axis.block == H5S_UNLIMITED;
    };
    const auto rank = source.shape.size();
    std::vector<hsize_t> start(rank), end(rank);
    if (std::any_of(axes.begin(), axes.end(), unlimited) || extents_of(selection).size() != rank || rank == 0 ||
        H5Sget_select_bounds(selection, start.data(), end.data()) < 0)
      return {};
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (end[axis] >= source.shape[axis])
        return too_small(source.shape[axis], fmt::format("rows along axis {}", axis), end[axis] + 1);
    return {};
  }

  struct Source {
    std::string missing;  ///< why it cannot be read; "" when it can
    std::vector<hsize_t> shape;
  };

  Result<void> look_at(const std::string& file, const std::string& dataset, Source& source) {
    const auto opened = file == "." ? open_hdf5(owner_.string()) : find_file(file);
    if (!opened.valid()) {
      source.missing = fmt::format("file \"{}\" cannot be opened", file);
      return {};
    }
    auto found = open_dataset(opened.get(), dataset);
    if (!found) {
      source.missing = fmt::format("\"{}\": {}", file, found.error().message);
      return {};
    }
    const Hdf5Handle space(H5Dget_space(found->dataset.get()), H5Sclose);
    source.shape = extents_of(space.get());
    if (depth_ >= kDeepest) return {};
    const auto what = fmt::format("{}\" from \"{}\" of \"{}", name_, dataset, file);
    RL_TRY_ASSIGN(auto notes, check_at(found->dataset.get(), what, depth_ + 1));
    for (auto& note : notes) notes_.push_back(std::move(note));
    return {};
  }

  /// The library's order: HDF5_VDS_PREFIX, the folder of the virtual dataset's file, the current one, the folder that a
  /// symbolic link to that file leads to.
  [[nodiscard]] Hdf5Handle find_file(const std::string& name) const {
    std::filesystem::path file = name;
    std::vector<std::filesystem::path> places;
    if (file.is_absolute()) {
      places.push_back(file);
      file = file.filename();
    }
    for (const auto& prefix : base::split(hdf5_variable("HDF5_VDS_PREFIX"), ':'))
      if (!prefix.empty()) places.push_back(prefix_folder(prefix, owner_.parent_path()) / file);
    std::error_code ignored;
    places.push_back(owner_.parent_path() / file);
    places.push_back(file);
    places.push_back(std::filesystem::canonical(owner_, ignored).parent_path() / file);
    for (const auto& place : places)
      if (auto opened = open_hdf5(place.string()); opened.valid()) return opened;
    return {};
  }

  hid_t properties_;
  const std::string& name_;
  std::filesystem::path owner_;
  unsigned depth_;
  std::vector<hsize_t> shape_;
  std::map<std::pair<std::string, std::string>, Source> sources_;
  std::vector<std::string> notes_;
  std::uint64_t mapped_ = 0;          ///< values that some source has
  std::uint64_t missing_values_ = 0;  ///< of these, values of missing sources
  std::size_t missing_ = 0;           ///< sources
  std::string first_missing_;
};

Result<std::vector<std::string>> check_at(hid_t dataset, const std::string& name, unsigned depth) {
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(properties.get()) == H5D_VIRTUAL)
    return VirtualCheck(dataset, properties.get(), name, depth).check();
  if (H5Pget_external_count(properties.get()) > 0) RL_TRY(check_external(dataset, properties.get(), name));
  return std::vector<std::string>{};
}

}  // namespace

Result<std::vector<std::string>> check_other_files(hid_t dataset, const std::string& name) {
  return check_at(dataset, name, 0);
}

}  // namespace ridgeline::loader
