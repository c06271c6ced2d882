// SPDX-License-Identifier: Apache-2.0
// Reads a source and writes a line of JSON for each frame (size, time, mean of each channel), then one with the
// notes. For scripts/test_stream_sources.sh and by hand:
//   rl_stream_source SOURCE [--raw FORMAT] [--format FORMAT] [--frames N] [--every N] [--quiet] [--threads N]
//                    [--reconnect SECONDS] [--interrupt-after SECONDS] [--write FILE] [--dump FILE]
// Means are of every N-th frame (default 1; 0: none). --write encodes what is read, --dump writes its bytes. Exit code
// 2: the source's error, which is on stderr.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "stream/open_source.hpp"
#include "stream/video_writer.hpp"
#include "stream/words.hpp"

namespace {

using namespace ridgeline;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

int complain(const base::Error& error) {
  std::cerr << "error: " << base::error_line(error) << '\n';
  std::cout << nlohmann::json{{"error", base::to_string(error.code)}, {"message", error.message}}.dump() << '\n';
  return 2;
}

/// Of each interleaved channel; of all bytes where the format has planes.
std::vector<double> mean_of(const stream::Image& image) {
  const bool is_colour = image.format == stream::PixelFormat::bgr24 || image.format == stream::PixelFormat::rgb24;
  std::vector<double> sums(is_colour ? 3 : 1, 0);
  for (std::size_t i = 0; i < image.bytes.size(); ++i) sums[i % sums.size()] += image.bytes[i];
  for (auto& sum : sums) sum /= static_cast<double>(image.bytes.size() / sums.size());
  return sums;
}

struct Arguments {
  stream::SourceOptions options;
  std::int64_t frames = -1;
  std::int64_t every = 1;
  double interrupt_after_s = 0;
  bool quiet = false;
  std::string write;
  std::string dump;
};

base::Result<Arguments> parse(const std::vector<std::string>& words) {
  Arguments out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (word.rfind("--", 0) != 0) {
      out.options.source = word;
      continue;
    }
    if (word == "--quiet") {
      out.quiet = true;
      continue;
    }
    if (i + 1 == words.size()) return base::fail(base::ErrorCode::invalid_argument, "{} needs a value", word);
    const auto& value = words[++i];
    if (word == "--raw") {
      RL_TRY_ASSIGN(out.options.raw, stream::parse_raw_format(value));
    } else if (word == "--format") {
      RL_TRY_ASSIGN(out.options.format, stream::parse_pixel_format(value, word));
    } else if (word == "--frames") {
      RL_TRY_ASSIGN(out.frames, base::parse_integer(value, word));
    } else if (word == "--every") {
      RL_TRY_ASSIGN(out.every, base::parse_integer(value, word));
    } else if (word == "--threads") {
      RL_TRY_ASSIGN(const auto threads, base::parse_integer(value, word));
      out.options.decoder_threads = static_cast<int>(threads);
    } else if (word == "--reconnect") {
      RL_TRY_ASSIGN(out.options.reconnect_for, base::parse_duration(value, word));
    } else if (word == "--interrupt-after") {
      RL_TRY_ASSIGN(out.interrupt_after_s, base::parse_number(value, word));
    } else if (word == "--write") {
      out.write = value;
    } else if (word == "--dump") {
      out.dump = value;
    } else {
      return base::fail(base::ErrorCode::invalid_argument, "unknown option {}", word);
    }
  }
  return out;
}

base::Result<void> read_all(stream::FrameSource& source, const Arguments& arguments, nlohmann::json& summary) {
  std::unique_ptr<stream::VideoWriter> writer;
  const auto begin = Clock::now();
  stream::Image image;
  std::ofstream dump;
  if (!arguments.dump.empty()) dump.open(arguments.dump, std::ios::binary);
  std::int64_t frames = 0;
  for (; frames != arguments.frames; ++frames) {
    auto pts = source.next(image);
    summary["frames"] = frames;
    summary["seconds"] = seconds_since(begin);
    if (!pts) return tl::unexpected(std::move(pts).error());
    if (!*pts) break;
    const auto label = source.label();
    if (!label.damage.empty()) {
      std::cout << nlohmann::json{{"frame", frames}, {"file", label.file}, {"damage", label.damage}}.dump()
                << std::endl;
      continue;
    }
    dump.write(reinterpret_cast<const char*>(image.bytes.data()), static_cast<std::streamsize>(image.bytes.size()));
    if (!arguments.write.empty() && !writer) {
      RL_TRY_ASSIGN(writer,
                    stream::VideoWriter::create(arguments.write, {image.width, image.height, source.info().fps}));
    }
    if (writer) RL_TRY(writer->write(image, **pts));
    if (arguments.quiet) continue;
    nlohmann::json line{{"frame", frames}, {"width", image.width}, {"height", image.height}, {"pts_ns", **pts}};
    if (!label.file.empty()) line["file"] = label.file;
    if (arguments.every > 0 && frames % arguments.every == 0) line["mean"] = mean_of(image);
    std::cout << line.dump() << std::endl;
  }
  summary["frames"] = frames;
  if (writer) return writer->finish();
  return {};
}

}  // namespace

int main(int count, char** words) {
  auto arguments = parse({words + 1, words + count});
  if (!arguments) return complain(arguments.error());
  // Called by the thread that reads, which is this one.
  std::vector<std::string> notes;
  arguments->options.on_note = [&](const schema::Message& note) { notes.push_back(stream::words_of(note)); };
  auto source = stream::open_source(arguments->options);
  if (!source) return complain(source.error());
  const auto& info = (*source)->info();
  std::cout << nlohmann::json{{"source", info.name},    {"width", info.width},   {"height", info.height},
                              {"fps", info.fps},        {"frames", info.frames}, {"live", info.is_live},
                              {"decoder", info.decoder}}
                   .dump()
            << std::endl;
  Clock::time_point interrupted_at;
  std::jthread interrupter;
  if (arguments->interrupt_after_s > 0)
    interrupter = std::jthread([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(arguments->interrupt_after_s));
      interrupted_at = Clock::now();
      (*source)->interrupt();
    });
  nlohmann::json summary;
  const auto read = read_all(**source, *arguments, summary);
  const auto ended = Clock::now();
  if (interrupter.joinable()) interrupter.join();
  if (!read && read.error().code == base::ErrorCode::cancelled)
    summary["interrupted_ms"] = std::chrono::duration<double, std::milli>(ended - interrupted_at).count();
  for (const auto& note : info.notes) notes.push_back(stream::words_of(note));
  for (const auto& note : (*source)->notes()) notes.push_back(stream::words_of(note));
  summary["notes"] = notes;
  std::cout << summary.dump() << std::endl;
  return read ? 0 : complain(read.error());
}
