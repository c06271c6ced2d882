// SPDX-License-Identifier: Apache-2.0
#include "fuzz/traces/trace_inputs.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tracefile/block_format.hpp"

namespace ridgeline::fuzz {
namespace {

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  ::deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

class TextInputs : public TraceInputs {
 public:
  explicit TextInputs(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}
  [[nodiscard]] std::size_t seeds() const override { return seeds_.size(); }
  void write(std::size_t seed, const std::filesystem::path& path) const override { write_bytes(path, seeds_[seed]); }
  void write_damaged(std::size_t seed, Mutator& mutator, const std::filesystem::path& path) const override {
    auto bytes = seeds_[seed];
    mutator.text(bytes);
    if (mutator.one_in(32)) bytes = gzip(bytes);
    if (mutator.one_in(200)) mutator.binary(bytes);
    write_bytes(path, bytes);
  }

 private:
  std::vector<std::string> seeds_;
};

class BlockInputs : public TraceInputs {
 public:
  explicit BlockInputs(std::vector<std::string> seeds) : files_(std::move(seeds)) {
    for (const auto& file : files_) blocks_.push_back(blocks_of(file));
  }
  [[nodiscard]] std::size_t seeds() const override { return files_.size(); }
  void write(std::size_t seed, const std::filesystem::path& path) const override { write_bytes(path, files_[seed]); }
  void write_damaged(std::size_t seed, Mutator& mutator, const std::filesystem::path& path) const override {
    if (mutator.one_in(8)) {
      auto bytes = files_[seed];
      mutator.binary(bytes);
      write_bytes(path, bytes);
      return;
    }
    auto blocks = blocks_[seed];
    auto& one = blocks[mutator.below(blocks.size())];
    auto& other = blocks[mutator.below(blocks.size())];
    switch (mutator.below(8)) {
      case 0: std::swap(one, other); break;
      case 1: one = other; break;
      case 2: one.first = other.first; break;
      default: mutator.binary(one.second);
    }
    auto bytes = files_[seed].substr(0, trace::kTraceHeaderBytes);
    for (const auto& [kind, plain] : blocks) bytes += trace::make_block(kind, plain);
    write_bytes(path, bytes);
  }

 private:
  using Blocks = std::vector<std::pair<trace::BlockKind, std::string>>;
  static Blocks blocks_of(const std::string& file) {
    Blocks out;
    for (auto at = trace::kTraceHeaderBytes; at + trace::kBlockHeaderBytes <= file.size();) {
      const auto stored = trace::get_u32(file.data() + at + 1);
      std::string plain(trace::get_u32(file.data() + at + 5), '\0');
      auto size = static_cast<uLongf>(plain.size());
      ::uncompress(reinterpret_cast<Bytef*>(plain.data()), &size,
                   reinterpret_cast<const Bytef*>(file.data() + at + trace::kBlockHeaderBytes), stored);
      out.emplace_back(static_cast<trace::BlockKind>(file[at]), std::move(plain));
      at += trace::kBlockHeaderBytes + stored;
    }
    return out;
  }

  std::vector<std::string> files_;
  std::vector<Blocks> blocks_;
};

class PickleInputs : public TraceInputs {
 public:
  explicit PickleInputs(std::vector<std::string> seeds) : files_(std::move(seeds)) {
    for (const auto& file : files_) opcodes_.push_back(opcodes_of(file));
  }
  [[nodiscard]] std::size_t seeds() const override { return files_.size(); }
  void write(std::size_t seed, const std::filesystem::path& path) const override { write_bytes(path, files_[seed]); }
  void write_damaged(std::size_t seed, Mutator& mutator, const std::filesystem::path& path) const override {
    std::string bytes;
    if (mutator.one_in(8)) {
      bytes = files_[seed];
      mutator.binary(bytes);
    } else {
      auto opcodes = opcodes_[seed];
      do change(opcodes, mutator);
      while (!mutator.one_in(3));
      for (const auto& opcode : opcodes) bytes += opcode;
    }
    write_bytes(path, mutator.one_in(32) ? gzip(bytes) : bytes);
  }

 private:
  using Opcodes = std::vector<std::string>;

  /// How many bytes of numbers stand behind an opcode, and whether they are the length of what follows them.
  static std::pair<std::size_t, bool> argument_of(char opcode) {
    switch (opcode) {
      case '\x80':
      case 'K':
      case 'q':
      case 'h': return {1, false};
      case 'M': return {2, false};
      case 'J':
      case 'r':
      case 'j': return {4, false};
      case 'G':
      case '\x95': return {8, false};
      case '\x8a':
      case '\x8c': return {1, true};
      case 'X': return {4, true};
      default: return {0, false};
    }
  }

  static Opcodes opcodes_of(const std::string& file) {
    Opcodes out;
    for (std::size_t at = 0; at < file.size();) {
      const auto [bytes, is_length] = argument_of(file[at]);
      auto size = 1 + bytes;
      for (std::size_t i = 0; is_length && i < bytes; ++i)
        size += std::size_t{static_cast<unsigned char>(file[at + 1 + i])} << (8 * i);
      out.push_back(file.substr(at, size));
      at += size;
    }
    return out;
  }

  static void change(Opcodes& opcodes, Mutator& mutator) {
    const auto at = mutator.below(opcodes.size());
    auto& one = opcodes[at];
    const auto& other = opcodes[mutator.below(opcodes.size())];
    switch (mutator.below(8)) {
      case 0: std::swap(one, opcodes[mutator.below(opcodes.size())]); break;
      case 1: one = std::string(other); break;
      case 2: opcodes.insert(opcodes.begin() + static_cast<std::ptrdiff_t>(at), std::string(other)); break;
      case 3: one.clear(); break;
      case 4: mutator.binary(one); break;
      default: replace_number(opcodes, at, mutator);
    }
  }

  /// The next number becomes one of 64 bits that has few bits set, or few that are not.
  static void replace_number(Opcodes& opcodes, std::size_t at, Mutator& mutator) {
    for (; at < opcodes.size(); ++at) {
      const auto& old = opcodes[at];
      if (old.empty() || (old[0] != 'K' && old[0] != 'M' && old[0] != 'J' && old[0] != '\x8a')) continue;
      std::string number("\x8a\x08\0\0\0\0\0\0\0\0", 10);
      number[2 + mutator.below(8)] = static_cast<char>(1 << mutator.below(8));
      if (mutator.one_in(2))
        for (std::size_t i = 2; i < number.size(); ++i) number[i] = static_cast<char>(~number[i]);
      opcodes[at] = number;
      return;
    }
  }

  std::vector<std::string> files_;
  std::vector<Opcodes> opcodes_;
};

class SqliteInputs : public TraceInputs {
 public:
  SqliteInputs(std::vector<std::string> seeds, std::filesystem::path scratch)
      : statements_(std::move(seeds)), scratch_(std::move(scratch)) {
    for (const auto& statements : statements_) {
      make(statements, scratch_);
      std::ostringstream bytes;
      bytes << std::ifstream(scratch_, std::ios::binary).rdbuf();
      databases_.push_back(bytes.str());
    }
  }
  [[nodiscard]] std::size_t seeds() const override { return statements_.size(); }
  void write(std::size_t seed, const std::filesystem::path& path) const override {
    write_bytes(path, databases_[seed]);
  }
  void write_damaged(std::size_t seed, Mutator& mutator, const std::filesystem::path& path) const override {
    if (mutator.one_in(2)) {
      auto statements = statements_[seed];
      mutator.text(statements);
      make(statements, path);
    } else {
      auto bytes = databases_[seed];
      mutator.binary(bytes);
      write_bytes(path, bytes);
    }
  }

 private:
  /// Statements that are none any more are left out.
  static void make(const std::string& statements, const std::filesystem::path& path) {
    std::filesystem::remove(path);
    sqlite3* handle = nullptr;
    ::sqlite3_open(path.c_str(), &handle);
    const auto run = [&](const std::string& one) { ::sqlite3_exec(handle, one.c_str(), nullptr, nullptr, nullptr); };
    run("PRAGMA page_size=512; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
    std::istringstream lines(statements);
    for (std::string line; std::getline(lines, line);) run(line);
    run("COMMIT");
    ::sqlite3_close(handle);
  }

  std::vector<std::string> statements_;
  std::filesystem::path scratch_;
  std::vector<std::string> databases_;
};

}  // namespace

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0 || ::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  ::close(file);
}

std::unique_ptr<TraceInputs> text_inputs(std::vector<std::string> seeds) {
  return std::make_unique<TextInputs>(std::move(seeds));
}
std::unique_ptr<TraceInputs> block_inputs(std::vector<std::string> seeds) {
  return std::make_unique<BlockInputs>(std::move(seeds));
}
std::unique_ptr<TraceInputs> pickle_inputs(std::vector<std::string> seeds) {
  return std::make_unique<PickleInputs>(std::move(seeds));
}
std::unique_ptr<TraceInputs> sqlite_inputs(std::vector<std::string> seeds, const std::filesystem::path& scratch) {
  return std::make_unique<SqliteInputs>(std::move(seeds), scratch);
}

}  // namespace ridgeline::fuzz
