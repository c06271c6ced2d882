// SPDX-License-Identifier: Apache-2.0
#include "picture_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace ridgeline::video_plugin {
namespace {

constexpr std::string_view kExif("Exif\0\0", 6);
constexpr std::string_view kPng("\x89PNG\r\n\x1a\n", 8);
constexpr std::uint8_t kStartOfScan = 0xda;
constexpr std::uint8_t kEndOfImage = 0xd9;

bool begins_with(PictureBytes bytes, std::string_view text) noexcept {
  return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin(), [](char a, std::uint8_t b) {
           return static_cast<std::uint8_t>(a) == b;
         });
}

/// `count` bytes as a number; 0 beyond the end.
std::uint32_t number_at(PictureBytes bytes, std::size_t at, std::size_t count, bool is_big_endian) noexcept {
  if (at > bytes.size() || bytes.size() - at < count) return 0;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8U | bytes[at + (is_big_endian ? i : count - 1 - i)];
  return value;
}

PictureBytes part(PictureBytes bytes, std::size_t at, std::size_t count) noexcept {
  at = std::min(at, bytes.size());
  return bytes.subspan(at, std::min(count, bytes.size() - at));
}

/// EXIF data is a TIFF file without a picture.
Orientation tiff_orientation(PictureBytes tiff) noexcept {
  constexpr std::size_t kEntryBytes = 12;
  constexpr std::uint32_t kOrientationTag = 0x0112;
  constexpr std::uint32_t kLong = 4;
  const bool is_big_endian = begins_with(tiff, std::string_view("MM\0*", 4));
  if (!is_big_endian && !begins_with(tiff, std::string_view("II*\0", 4))) return Orientation::normal;
  const std::size_t directory = number_at(tiff, 4, 4, is_big_endian);
  const auto entries = number_at(tiff, directory, 2, is_big_endian);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const auto entry = directory + 2 + i * kEntryBytes;
    if (entry + kEntryBytes > tiff.size()) break;
    if (number_at(tiff, entry, 2, is_big_endian) != kOrientationTag) continue;
    const std::size_t value_bytes = number_at(tiff, entry + 2, 2, is_big_endian) == kLong ? 4 : 2;
    const auto value = number_at(tiff, entry + 8, value_bytes, is_big_endian);
    return value >= 1 && value <= 8 ? static_cast<Orientation>(value) : Orientation::normal;
  }
  return Orientation::normal;
}

Orientation jpeg_orientation(PictureBytes file) noexcept {
  constexpr std::uint8_t kApp1 = 0xe1;
  for (std::size_t at = 2; at + 4 <= file.size() && file[at] == 0xff;) {
    const auto marker = file[at + 1];
    if (marker == 0xff) {
      ++at;  // fill bytes
      continue;
    }
    if (marker == kStartOfScan || marker == kEndOfImage) break;
    const auto length = number_at(file, at + 2, 2, true);
    const auto segment = part(file, at + 4, length < 2 ? 0 : length - 2);
    if (marker == kApp1 && begins_with(segment, kExif)) return tiff_orientation(segment.subspan(kExif.size()));
    at += 2 + std::max<std::size_t>(length, 2);
  }
  return Orientation::normal;
}

Orientation png_orientation(PictureBytes file) noexcept {
  constexpr std::size_t kFrame = 12;  // length, name and checksum
  for (std::size_t at = kPng.size(); at + kFrame <= file.size();) {
    const std::size_t length = number_at(file, at, 4, true);
    const auto chunk = part(file, at + 4, 4 + length);
    if (begins_with(chunk, "eXIf")) return tiff_orientation(chunk.subspan(4));
    if (begins_with(chunk, "IEND")) break;
    at += kFrame + length;
  }
  return Orientation::normal;
}

Orientation webp_orientation(PictureBytes file) noexcept {
  for (std::size_t at = 12; at + 8 <= file.size();) {
    const std::size_t length = number_at(file, at + 4, 4, false);
    if (begins_with(part(file, at, 4), "EXIF")) {
      const auto data = part(file, at + 8, length);
      return tiff_orientation(begins_with(data, kExif) ? data.subspan(kExif.size()) : data);
    }
    at += 8 + length + length % 2;
  }
  return Orientation::normal;
}

bool is_jpeg(PictureBytes file) noexcept { return begins_with(file, "\xff\xd8\xff"); }

/// The first scan's place: markers before it may hold a small picture with an end of its own.
std::size_t first_scan(PictureBytes file) noexcept {
  for (std::size_t at = 2; at + 4 <= file.size() && file[at] == 0xff;) {
    const auto marker = file[at + 1];
    if (marker == kStartOfScan) return at;
    at += marker == 0xff ? 1 : 2 + std::max<std::size_t>(number_at(file, at + 2, 2, true), 2);
  }
  return file.size();
}

}  // namespace

Orientation exif_orientation(PictureBytes file) noexcept {
  if (is_jpeg(file)) return jpeg_orientation(file);
  if (begins_with(file, kPng)) return png_orientation(file);
  if (begins_with(file, "RIFF") && begins_with(part(file, 8, 4), "WEBP")) return webp_orientation(file);
  return tiff_orientation(file);
}

bool ends_early(PictureBytes file) noexcept {
  const auto holds = [](PictureBytes bytes, const auto& pattern) {
    return std::search(bytes.begin(), bytes.end(), pattern.begin(), pattern.end()) != bytes.end();
  };
  // Within a scan 0xff is followed by 0 or a restart's number.
  if (is_jpeg(file)) return !holds(file.subspan(first_scan(file)), std::array<std::uint8_t, 2>{0xff, kEndOfImage});
  if (begins_with(file, kPng)) return !holds(file, std::array<std::uint8_t, 4>{'I', 'E', 'N', 'D'});
  return false;
}

}  // namespace ridgeline::video_plugin
