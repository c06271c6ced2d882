// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/message.hpp"

namespace ridgeline::stream {

/// The pictures of a source that has several, in the order in which they are read.
struct PictureList {
  std::filesystem::path folder;          ///< that their names are told from
  std::vector<std::string> names;        ///< in that folder, or below it
  std::vector<schema::Message> notes{};  ///< what a user should know of what is not among them
};

/// As people number files: numbers in names by their value, "img2" before "img10".
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b) noexcept;

/// Those of a folder, by name. What is not named like a picture is left out. Errors: io, invalid_argument (none).
[[nodiscard]] base::Result<PictureList> pictures_in(const std::filesystem::path& folder);

/// Whether the text has what stands for other letters: "*", "?", "[a-z]", "{png,jpg}".
[[nodiscard]] bool is_glob(std::string_view text) noexcept;
/// Those whose path fits, by name: "shots/*.jpg". Errors: not_found, invalid_argument (nothing that fits is named like
/// a picture).
[[nodiscard]] base::Result<PictureList> pictures_like(const std::string& pattern);

/// Whether the file's name has a place for a number: "img%04d.png", "img%d.png".
[[nodiscard]] bool is_numbered(std::string_view text) noexcept;
/// Those with a number in that place, by number, from the smallest on; numbers that are missing are noted. "%%" is one
/// percent sign. Errors: not_found, invalid_argument (several places).
[[nodiscard]] base::Result<PictureList> numbered_pictures(const std::string& pattern);

}  // namespace ridgeline::stream
