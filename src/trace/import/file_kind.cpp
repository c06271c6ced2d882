// SPDX-License-Identifier: Apache-2.0
#include "trace/import/file_kind.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "trace/import/file_bytes.hpp"
#include "trace/import/json_damage.hpp"
#include "tracefile/block_format.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::size_t kLookBytes = 1 << 20;  // programs may print before the table of ncu
constexpr std::string_view kDatabase{"SQLite format 3\0", 16};

/// Whether an event of ONNX Runtime's is there: "cat" : "Session".
bool has_category(std::string_view text, std::string_view category) {
  for (auto at = text.find(category); at != std::string_view::npos; at = text.find(category, at + 1)) {
    const auto before = text.substr(0, at).find_last_not_of(" :");
    if (before != std::string_view::npos && before >= 4 && text.substr(before - 4, 5) == "\"cat\"") return true;
  }
  return false;
}

/// A line that begins with the first column of ncu and has another one.
bool has_table_of_ncu(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    if ((line.starts_with("\"ID\"") || line.starts_with("ID,")) && line.find("Kernel Name") != std::string_view::npos)
      return true;
    begin = end + 1;
  }
  return false;
}

bool is_pickle(std::string_view text) {
  return text.size() >= 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;  // and its protocol
}

}  // namespace

Result<FileKind> file_kind(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return base::fail(ErrorCode::invalid_argument, "{}: a folder, expected a trace", path).hint("name the files in it");
  RL_TRY_ASSIGN(auto file, FileBytes::open(path));
  std::string bytes;
  (void)file.read(bytes, kLookBytes);  // a smaller file has less
  std::string_view text = bytes;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.starts_with(kDatabase)) return FileKind::nsys;
  if (text.starts_with(kTraceMagic)) return FileKind::ridgeline;
  if (is_pickle(text)) return FileKind::snapshot;
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return FileKind::kineto;
  if (first != std::string_view::npos && text[first] == '[' && text.find('{') != std::string_view::npos)
    return has_category(text, "\"Session\"") || has_category(text, "\"Node\"") ? FileKind::onnxruntime
                                                                               : FileKind::kineto;
  if (has_table_of_ncu(text) || (!text.empty() && path.ends_with(".csv"))) return FileKind::ncu;
  if (path.ends_with(".ncu-rep"))
    return base::fail(ErrorCode::unsupported, "{}: a recording of Nsight Compute in its own format", path)
        .hint("ncu --import {} --csv --page raw > kernels.csv", path);
  return base::fail(ErrorCode::unsupported, "{}: {}", path, text.empty() ? "empty" : "not a trace that is known")
      .hint(
          "expected JSON of the PyTorch profiler or ONNX Runtime, SQLite of nsys export, CSV of ncu, a memory snapshot "
          "of "
          "PyTorch, or .rltrace");
}

}  // namespace ridgeline::trace
