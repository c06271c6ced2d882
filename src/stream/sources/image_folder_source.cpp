// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/image_folder_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "stream/input_file.hpp"
#include "stream/video_reader.hpp"

namespace ridgeline::stream {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;

constexpr std::int64_t kPictureFps = 30;
constexpr std::array<std::string_view, 13> kPictureEndings{".bmp", ".dpx", ".exr", ".jpeg", ".jpg",  ".pbm", ".pgm",
                                                           ".png", ".pnm", ".ppm", ".tif",  ".tiff", ".webp"};

bool is_picture(const fs::path& path) {
  auto ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return std::find(kPictureEndings.begin(), kPictureEndings.end(), ending) != kPictureEndings.end();
}

}  // namespace

base::Result<std::unique_ptr<FrameSource>> ImageFolderSource::open(const VideoLibrary& library, const fs::path& folder,
                                                                   const SourceOptions& options) {
  std::unique_ptr<ImageFolderSource> source(new ImageFolderSource(library, options));
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (is_picture(entry->path()) && !entry->is_directory()) source->pictures_.push_back(entry->path());
  if (failed) return fail(ErrorCode::io, "{} cannot be read: {}", folder.string(), failed.message());
  if (source->pictures_.empty())
    return fail(ErrorCode::invalid_argument, "{}: no pictures in this folder", folder.string())
        .hint("expected files named .png, .jpg, .bmp, .webp, .tif or .ppm");
  std::sort(source->pictures_.begin(), source->pictures_.end());
  source->info_.name = folder.string();
  RL_TRY_ASSIGN(source->first_is_waiting_, source->decode_next(source->first_));
  if (!source->first_is_waiting_)
    return fail(ErrorCode::corrupt, "{}: none of {} can be decoded ({})", folder.string(),
                base::counted(source->pictures_.size(), "picture"), source->skipped_first_);
  source->info_.width = source->first_.width;
  source->info_.height = source->first_.height;
  source->info_.frames = static_cast<std::int64_t>(source->pictures_.size());
  return source;
}

base::Result<void> ImageFolderSource::decode(const fs::path& path, Image& image, std::string& decoder) const {
  RL_TRY_ASSIGN(const auto file, InputFile::open(path));
  VideoReader reader(library_);
  VideoReader::Input input;
  input.url = input.name = path.string();
  input.fd = file.fd();
  RL_TRY_ASSIGN(const auto info, reader.open(input, options_));
  RL_TRY(reader.next(image, options_.format));
  decoder = info.decoder;
  return {};
}

base::Result<bool> ImageFolderSource::decode_next(Image& image) {
  while (at_ < pictures_.size()) {
    if (stopped_.load(std::memory_order_relaxed)) return fail(ErrorCode::cancelled, "{}: interrupted", info_.name);
    std::string decoder;
    const auto decoded = decode(pictures_[at_++], image, decoder);
    if (decoded) {
      if (info_.decoder.empty()) info_.decoder = decoder;
      return true;
    }
    if (decoded.error().code == ErrorCode::out_of_memory) return tl::unexpected(decoded.error());
    if (skipped_++ == 0) skipped_first_ = decoded.error().message;
  }
  return false;
}

base::Result<std::optional<std::int64_t>> ImageFolderSource::next(Image& image) {
  if (stopped_.load(std::memory_order_relaxed)) return fail(ErrorCode::cancelled, "{}: interrupted", info_.name);
  if (std::exchange(first_is_waiting_, false)) {
    image = std::move(first_);
  } else {
    RL_TRY_ASSIGN(const bool is_there, decode_next(image));
    if (!is_there) return std::nullopt;
  }
  return frames_++ * 1'000'000'000 / kPictureFps;
}

std::vector<std::string> ImageFolderSource::notes() const {
  if (skipped_ == 0) return {};
  return {fmt::format("{}: {} skipped, the first one: {}", info_.name, base::counted(skipped_, "damaged picture"),
                      skipped_first_)};
}

}  // namespace ridgeline::stream
