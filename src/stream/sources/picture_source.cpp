// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/picture_source.hpp"

#include <utility>

#include "base/text.hpp"
#include "stream/input_file.hpp"
#include "stream/messages.hpp"
#include "stream/video_reader.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kPictureFps = 30;

}  // namespace

base::Result<std::unique_ptr<FrameSource>> PictureSource::open(const VideoLibrary& library, std::string name,
                                                               PictureList list, const SourceOptions& options) {
  std::unique_ptr<PictureSource> source(new PictureSource(library, std::move(list), options));
  auto& info = source->info_;
  info.name = std::move(name);
  info.frames = static_cast<std::int64_t>(source->list_.names.size());
  info.has_labels = true;
  info.notes = source->list_.notes;
  while (!source->is_over()) {
    auto& looked = source->looked_.emplace_back();
    RL_TRY_ASSIGN(looked.label, source->take(looked.image));
    if (!looked.label.damage.empty()) continue;
    info.width = looked.image.width;
    info.height = looked.image.height;
    return source;
  }
  return fail(ErrorCode::corrupt, "{}: none of {} can be decoded; the first: {}: {}", info.name,
              base::counted(source->list_.names.size(), "picture"), source->damaged_first_.file,
              source->damaged_first_.damage);
}

base::Result<void> PictureSource::decode(const std::string& name, Image& image) {
  const auto path = list_.folder / name;
  RL_TRY_ASSIGN(const auto file, InputFile::open(path));
  VideoReader reader(library_);
  VideoReader::Input input;
  input.url = path.string();
  input.fd = file.fd();
  RL_TRY_ASSIGN(const auto info, reader.open(input, options_));
  RL_TRY(reader.next(image, options_.format));
  if (info_.decoder.empty()) info_.decoder = info.decoder;
  if (info.orientation > 1) ++turned_;
  return {};
}

base::Result<FrameLabel> PictureSource::take(Image& image) {
  if (stopped_.load(std::memory_order_relaxed)) return fail(ErrorCode::cancelled, "{}: interrupted", info_.name);
  FrameLabel label{list_.names[at_++], ""};
  const auto decoded = decode(label.file, image);
  if (decoded) return label;
  if (decoded.error().code == ErrorCode::out_of_memory) return tl::unexpected(decoded.error());
  label.damage = decoded.error().message;
  if (damaged_++ == 0) damaged_first_ = label;
  return label;
}

base::Result<std::optional<std::int64_t>> PictureSource::next(Image& image) {
  if (stopped_.load(std::memory_order_relaxed)) return fail(ErrorCode::cancelled, "{}: interrupted", info_.name);
  if (!looked_.empty()) {
    image = std::move(looked_.front().image);
    label_ = std::move(looked_.front().label);
    looked_.pop_front();
  } else {
    if (is_over()) return std::nullopt;
    RL_TRY_ASSIGN(label_, take(image));
  }
  return frames_++ * 1'000'000'000 / kPictureFps;
}

std::vector<schema::Message> PictureSource::notes() const {
  std::vector<schema::Message> notes;
  if (damaged_ > 0)
    notes.push_back(messages::damaged_pictures({.source = info_.name,
                                                .pictures = static_cast<std::int64_t>(damaged_),
                                                .file = damaged_first_.file,
                                                .reason = damaged_first_.damage}));
  if (turned_ > 0)
    notes.push_back(messages::turned_pictures({.source = info_.name, .pictures = static_cast<std::int64_t>(turned_)}));
  return notes;
}

}  // namespace ridgeline::stream
