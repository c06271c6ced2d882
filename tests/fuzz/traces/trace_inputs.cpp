// SPDX-License-Identifier: Apache-2.0
#include "fuzz/traces/trace_inputs.hpp"

#include <sqlite3.h>
#include <zlib.h>

#include <fstream>
#include <sstream>

#include "trace/file/block_format.hpp"

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
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::unique_ptr<TraceInputs> text_inputs(std::vector<std::string> seeds) {
  return std::make_unique<TextInputs>(std::move(seeds));
}
std::unique_ptr<TraceInputs> block_inputs(std::vector<std::string> seeds) {
  return std::make_unique<BlockInputs>(std::move(seeds));
}
std::unique_ptr<TraceInputs> sqlite_inputs(std::vector<std::string> seeds, const std::filesystem::path& scratch) {
  return std::make_unique<SqliteInputs>(std::move(seeds), scratch);
}

}  // namespace ridgeline::fuzz
