// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

constexpr std::uint64_t kLargestTable = 1U << 20;  // far above any real one; a damaged size must not be allocated

/// Positioned reads that fail at the end of the file.
class ElfReader {
 public:
  explicit ElfReader(const std::filesystem::path& path) : file_(path, std::ios::binary) {}
  [[nodiscard]] bool is_open() const { return file_.is_open(); }

  template <typename T>
  bool read(std::uint64_t offset, T* to, std::size_t count = 1) {
    file_.clear();
    if (!file_.seekg(static_cast<std::streamoff>(offset & 0x7fffffffffffffffULL))) return false;
    return static_cast<bool>(file_.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(sizeof(T) * count)));
  }

  /// The text at `offset`, which ends before `limit` bytes are over.
  std::optional<std::string> text(std::uint64_t offset, std::uint64_t limit) {
    file_.clear();
    std::string found;
    if (!file_.seekg(static_cast<std::streamoff>(offset & 0x7fffffffffffffffULL))) return std::nullopt;
    for (char letter = 0; found.size() < limit && file_.get(letter); found += letter)
      if (letter == '\0') return found;
    return std::nullopt;
  }

 private:
  std::ifstream file_;
};

/// Where in the file the address lies once loaded.
std::optional<std::uint64_t> offset_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const auto& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

}  // namespace

base::Result<ElfDynamic> read_elf_dynamic(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return base::fail(ErrorCode::not_found, "{} does not exist; expected a shared library", path.string());
  ElfReader reader(path);
  if (!reader.is_open()) return base::fail(ErrorCode::io, "cannot open {}", path.string());
  const auto corrupt = [&path](std::string_view what) {
    return base::fail(ErrorCode::corrupt, "{}: {}; expected a 64-bit shared library", path.string(), what);
  };

  Elf64_Ehdr header{};
  if (!reader.read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return corrupt("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return corrupt("an ELF file of another kind of machine");
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!reader.read(header.e_phoff, segments.data(), segments.size())) return corrupt("cut short");

  const auto dynamic = std::find_if(segments.begin(), segments.end(),
                                    [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; });
  if (dynamic == segments.end() || dynamic->p_filesz > kLargestTable) return corrupt("no dynamic section");
  std::vector<Elf64_Dyn> entries(dynamic->p_filesz / sizeof(Elf64_Dyn));
  if (!reader.read(dynamic->p_offset, entries.data(), entries.size())) return corrupt("cut short");

  std::optional<std::uint64_t> strings;
  std::uint64_t strings_size = 0;
  for (const auto& entry : entries) {
    if (entry.d_tag == DT_STRTAB) strings = offset_of(segments, entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRSZ) strings_size = entry.d_un.d_val;
  }
  if (!strings) return corrupt("no table of names");

  ElfDynamic found;
  for (const auto& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_SONAME) continue;
    auto name = entry.d_un.d_val < strings_size
                    ? reader.text(*strings + entry.d_un.d_val, strings_size - entry.d_un.d_val)
                    : std::nullopt;
    if (!name) return corrupt("cut short");
    if (entry.d_tag == DT_SONAME) {
      found.soname = std::move(*name);
    } else {
      found.needed.push_back(std::move(*name));
    }
  }
  return found;
}

}  // namespace ridgeline::workload
