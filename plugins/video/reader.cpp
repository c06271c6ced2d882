// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string_view>

#include "errors.hpp"
#include "picture_file.hpp"

namespace ridgeline::video_plugin {
namespace {

// A container's reader may find its way again behind damaged bytes; one that does not fails at once each time.
constexpr int kReadFailures = 16;
// While the decoder is emptied every answer ends something, so that many failures are a decoder that never ends.
constexpr int kDrainFailures = 4096;
// A GPU that has given no frame by then gives none.
constexpr std::size_t kMostKept = 64;
constexpr std::chrono::milliseconds kCameraNap{2};  // a camera that has no frame yet says so at once
constexpr std::int64_t kUsualFrameNs = 33'333'333;  // where a stream tells neither times nor a rate
constexpr std::int64_t kLiveAnalysisUs = 1'000'000;
constexpr std::size_t kMatrixBytes = 9 * sizeof(std::int32_t);

bool is_picture(const AVInputFormat& format) { return std::string_view(format.name).ends_with("_pipe"); }
bool is_mp4(const AVInputFormat& format) { return std::string_view(format.name).find("mp4") != std::string_view::npos; }
bool is_device(const AVInputFormat& format) { return (format.flags & AVFMT_NOFILE) != 0; }

/// rl_video_fields
std::int32_t fields_of(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  const bool is_interlaced = (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
  const bool is_top_first = (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  const bool is_interlaced = frame.interlaced_frame != 0;
  const bool is_top_first = frame.top_field_first != 0;
#endif
  return !is_interlaced ? RL_VIDEO_WHOLE_FRAMES : is_top_first ? RL_VIDEO_TOP_FIELD_FIRST : RL_VIDEO_BOTTOM_FIELD_FIRST;
}

const std::int32_t* display_matrix(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  const auto& parameters = *stream.codecpar;
  const auto* const data =
      av_packet_side_data_get(parameters.coded_side_data, parameters.nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  const auto* const bytes = data == nullptr || data->size < kMatrixBytes ? nullptr : data->data;
#else
  std::size_t size = 0;
  const auto* bytes = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (size < kMatrixBytes) bytes = nullptr;
#endif
  return reinterpret_cast<const std::int32_t*>(bytes);
}

bool has_ending(std::string_view name, std::initializer_list<std::string_view> endings) {
  std::string lower(name);
  for (auto& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return lower.ends_with(ending); });
}

bool is_jpeg_file(int fd) {
  std::array<unsigned char, 3> bytes{};
  return ::pread(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) &&
         bytes == std::array<unsigned char, 3>{0xff, 0xd8, 0xff};
}

const char* decoder_name(const AVCodecContext& decoder) { return avcodec_get_name(decoder.codec_id); }

}  // namespace

Reader::~Reader() {
  decoder_.reset();
  avformat_close_input(&format_);
}

void Reader::open(const char* url, const rl_video_options& options, rl_video_info& info) {
  if (format_ != nullptr) throw Refusal(RL_VIDEO_INVALID, "the reader is open already");
  if (!packet_ || !frame_ || !downloaded_) throw std::bad_alloc();
  clear_log();
  limit_ = std::chrono::nanoseconds(options.timeout_ns);
  stop_.start_limit(std::chrono::nanoseconds(options.open_timeout_ns));
  open_input(url, options);
  find_stream();
  applies_orientation_ = options.apply_orientation != 0;
  if (applies_orientation_) find_orientation();
  // A picture is sooner decoded than sent there, and turning is done on the CPU.
  if (options.gpu_context != nullptr && !is_picture(*format_->iformat)) {
    gpu_.want(options.gpu_context);
    if (orientation_ != Orientation::normal) gpu_.refuse("its frames are turned, which the CPU does");
  }
  if (!decode_first(options)) {
    if (is_mp4(*format_->iformat) && (format_->pb == nullptr || format_->pb->seekable == 0))
      throw Refusal(RL_VIDEO_CORRUPT,
                    "an MP4 that has its index at the end cannot be read from a pipe: name the file, or use MPEG-TS or "
                    "Matroska");
    if (is_picture(*format_->iformat))
      throw Refusal(RL_VIDEO_CORRUPT, std::string("its ") + decoder_name(*decoder_) + " picture cannot be decoded");
    throw Refusal(RL_VIDEO_CORRUPT, std::string("no frame of its ") + decoder_name(*decoder_) +
                                        " video can be decoded" + (cut_.empty() ? "" : ": " + cut_));
  }
  first_is_waiting_ = true;
  describe(info);
}

void Reader::open_input(const char* url, const rl_video_options& options) {
  const AVInputFormat* named = nullptr;
  if (options.format != nullptr && *options.format != '\0') {
    named = av_find_input_format(options.format);
    if (named == nullptr)
      throw Refusal(RL_VIDEO_UNSUPPORTED, std::string("this FFmpeg does not read ") + options.format);
  } else if (options.fd >= 0 && is_jpeg_file(options.fd) && !has_ending(url, {".mjpeg", ".mjpg"})) {
    // FFmpeg sees only the beginning, and takes a picture whose end is not in it for a video of pictures.
    named = av_find_input_format("jpeg_pipe");
    is_one_picture_ = has_ending(url, {".jpg", ".jpeg", ".jpe", ".jfif"});
  }
  format_ = avformat_alloc_context();
  if (format_ == nullptr) throw std::bad_alloc();
  format_->interrupt_callback = stop_.callback();
  if (options.fd >= 0) {
    input_ = std::make_unique<FdInput>(options.fd, stop_);
    format_->pb = input_->context();
  }
  Options asked;
  if (options.rtsp_transport != nullptr) asked.set("rtsp_transport", options.rtsp_transport);
  if (options.live != 0) asked.set("analyzeduration", kLiveAnalysisUs);
  // A download that breaks off goes on where it stopped.
  if (options.live == 0) asked.set("reconnect", 1);
  if (named != nullptr && is_device(*named)) {
    // FFmpeg's cameras cannot be interrupted while they wait.
    format_->flags |= AVFMT_FLAG_NONBLOCK;
    if (options.width > 0 && options.height > 0)
      asked.set("video_size", (std::to_string(options.width) + "x" + std::to_string(options.height)).c_str());
    if (options.fps > 0) asked.set("framerate", std::to_string(options.fps).c_str());
  }
  // Frees the context when it fails.
  const int opened = avformat_open_input(&format_, url, named, asked.entries());
  check_stopped(opened);
  if (opened == AVERROR_INVALIDDATA || opened == AVERROR_EOF)
    throw Refusal(RL_VIDEO_CORRUPT, "no video that FFmpeg reads: " + words_of(opened));
  if (opened < 0) throw Refusal(code_of(opened), words_of(opened));
}

void Reader::find_stream() {
  // A picture's decoder and a camera tell all that is needed; looking at frames would decode a picture twice.
  if (!is_picture(*format_->iformat) && !is_device(*format_->iformat)) {
    const int found = avformat_find_stream_info(format_, nullptr);
    check_stopped(found);
    checked(found, "no video that FFmpeg reads");
  }
  const int index = av_find_best_stream(format_, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (index < 0) throw Refusal(RL_VIDEO_NO_STREAM, "no video stream");
  stream_ = format_->streams[index];
  for (unsigned i = 0; i < format_->nb_streams; ++i)
    if (static_cast<int>(i) != index) format_->streams[i]->discard = AVDISCARD_ALL;
}

void Reader::find_orientation() {
  if (const auto* const matrix = display_matrix(*stream_)) orientation_ = orientation_of(matrix, other_angle_);
}

void Reader::open_decoder(const rl_video_options& options) {
  const auto& parameters = *stream_->codecpar;
  const auto* const codec = avcodec_find_decoder(parameters.codec_id);
  if (codec == nullptr)
    throw Refusal(RL_VIDEO_UNSUPPORTED,
                  std::string("this FFmpeg has no decoder for ") + avcodec_get_name(parameters.codec_id));
  decoder_.reset(avcodec_alloc_context3(codec));
  if (!decoder_) throw std::bad_alloc();
  checked(avcodec_parameters_to_context(decoder_.get(), &parameters), "parameters of the video");
  decoder_->pkt_timebase = stream_->time_base;
  decoder_->max_pixels = RL_VIDEO_MAX_PIXELS;
  // A chunk whose checksum is wrong would be shown as whatever its bytes are.
  if (parameters.codec_id == AV_CODEC_ID_PNG) decoder_->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
  decoder_->thread_count = is_picture(*format_->iformat) ? 1 : options.threads;
  // Threads that decode a frame each delay every frame by as many.
  decoder_->thread_type = options.live != 0 ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
  gpu_.attach(*decoder_);
  checked(avcodec_open2(decoder_.get(), codec, nullptr), std::string("decoder ") + codec->name);
}

bool Reader::decode_first(const rl_video_options& options) {
  open_decoder(options);
  is_trying_gpu_ = gpu_.is_wanted();
  const bool was_tried = is_trying_gpu_;
  bool has_frame = decode();
  is_trying_gpu_ = false;
  if (was_tried && !(has_frame && is_on_gpu(*frame_))) {
    gpu_.refuse(logged_or("NVDEC gives no frames"));
    again_.swap(kept_);
    packets_ = damaged_ = 0;
    failures_in_a_row_ = 0;
    draining_ = false;
    cut_.clear();
    open_decoder(options);
    has_frame = decode();
  }
  kept_.clear();
  return has_frame;
}

void Reader::describe(rl_video_info& info) const noexcept {
  info.width = swaps_sides(orientation_) ? frame_->height : frame_->width;
  info.height = swaps_sides(orientation_) ? frame_->width : frame_->height;
  info.orientation = static_cast<std::int32_t>(orientation_);
  info.other_angle = other_angle_;
  info.fields = fields_of(*frame_);
  const auto rate = av_guess_frame_rate(format_, stream_, nullptr);
  info.fps = rate.num > 0 && rate.den > 0 && !is_picture(*format_->iformat) ? av_q2d(rate) : 0;
  info.frames = stream_->nb_frames > 0 ? stream_->nb_frames : -1;
  info.duration_ns = -1;
  if (stream_->duration > 0)
    info.duration_ns = av_rescale_q(stream_->duration, stream_->time_base, kNanosecond);
  else if (format_->duration > 0)
    info.duration_ns = format_->duration * 1000;
  info.on_gpu = is_on_gpu(*frame_) ? 1 : 0;
  std::strncpy(info.why_not_on_gpu, gpu_.why_not().c_str(), sizeof info.why_not_on_gpu - 1);
  const auto* const name = decoder_name(*decoder_);
  std::strncpy(info.decoder, name, sizeof info.decoder - 1);
}

bool Reader::read(rl_video_frame& frame) {
  if (stream_ == nullptr || !decoder_) throw Refusal(RL_VIDEO_INVALID, "the reader is not open");
  if (stop_.interrupted()) throw Refusal(RL_VIDEO_CANCELLED, "interrupted");
  if (first_is_waiting_) {
    first_is_waiting_ = false;
  } else {
    clear_log();
    stop_.start_limit(limit_);
    if (!decode()) return false;
  }
  set_time();
  ++frames_;
  if (fields_of(*frame_) != RL_VIDEO_WHOLE_FRAMES) ++interlaced_;
  frame.width = swaps_sides(orientation_) ? frame_->height : frame_->width;
  frame.height = swaps_sides(orientation_) ? frame_->width : frame_->height;
  frame.pts_ns = pts_ns_;
  if (is_on_gpu(*frame_))
    for (int plane = 0; plane < 2; ++plane) {
      frame.gpu_planes[plane] = reinterpret_cast<std::uintptr_t>(frame_->data[plane]);
      frame.gpu_strides[plane] = frame_->linesize[plane];
    }
  return true;
}

// The next whole frame into frame_.
bool Reader::decode() {
  for (;;) {
    const int got = avcodec_receive_frame(decoder_.get(), frame_.get());
    if (got == 0) {
      failures_in_a_row_ = 0;
      if ((frame_->flags & AV_FRAME_FLAG_CORRUPT) == 0 && frame_->decode_error_flags == 0) {
        if (frame_->width > RL_VIDEO_MAX_SIDE || frame_->height > RL_VIDEO_MAX_SIDE)
          throw Refusal(RL_VIDEO_INVALID, "a picture of " + std::to_string(frame_->width) + "x" +
                                              std::to_string(frame_->height) + ": a side is above " +
                                              std::to_string(RL_VIDEO_MAX_SIDE));
        return true;
      }
      ++damaged_;
    } else if (got == AVERROR(EAGAIN)) {
      feed();
    } else if (got == AVERROR_EOF) {
      return false;
    } else if (got == AVERROR(ENOMEM)) {
      throw std::bad_alloc();
    } else {
      ++damaged_;
      if (draining_ && ++failures_in_a_row_ > kDrainFailures) return false;
    }
    if (is_trying_gpu_ && kept_.size() > kMostKept) return false;
    if (stop_.should_stop()) check_stopped(AVERROR_EXIT);
  }
}

// One packet of the stream, or the end, into the decoder.
void Reader::feed() {
  if (!again_.empty()) {
    const auto packet = std::move(again_.front());
    again_.pop_front();
    return send(*packet);
  }
  // Phones put a small picture or a depth map behind the one that the file is named for.
  if (is_one_picture_ && packets_ > 0) return end_input();
  for (int failures = 0;;) {
    const int got = av_read_frame(format_, packet_.get());
    if (got == AVERROR(EAGAIN)) {
      if (!stop_.wait_readable(-1, kCameraNap)) check_stopped(AVERROR_EXIT);
      continue;
    }
    if (got < 0) {
      check_stopped(got);
      if (got == AVERROR(ENOMEM)) throw std::bad_alloc();
      if (got == AVERROR_INVALIDDATA && ++failures < kReadFailures) continue;
      if (got != AVERROR_EOF) cut_ = words_of(got);
      return end_input();
    }
    const bool ours = packet_->stream_index == stream_->index;
    const bool is_whole = !ours || !is_picture(*format_->iformat) || look_at_picture();
    if (!ours) {
      av_packet_unref(packet_.get());
      if (stop_.should_stop()) check_stopped(AVERROR_EXIT);
      continue;
    }
    if (is_whole) return send(*packet_);
    av_packet_unref(packet_.get());
    ++packets_;
    ++damaged_;
    return;
  }
}

void Reader::send(AVPacket& packet) {
  if (is_trying_gpu_) {
    kept_.emplace_back(av_packet_clone(&packet));
    if (!kept_.back()) throw std::bad_alloc();
  }
  const int sent = avcodec_send_packet(decoder_.get(), &packet);
  av_packet_unref(&packet);
  ++packets_;
  if (sent == AVERROR(ENOMEM)) throw std::bad_alloc();
  if (sent < 0) ++damaged_;
}

bool Reader::look_at_picture() {
  const PictureBytes file(packet_->data, static_cast<std::size_t>(packet_->size));
  if (ends_early(file)) {
    if (packets_ > 0) return false;
    throw Refusal(RL_VIDEO_CORRUPT, std::string("the ") + decoder_name(*decoder_) + " picture ends early");
  }
  if (applies_orientation_) orientation_ = exif_orientation(file);
  return true;
}

void Reader::end_input() {
  draining_ = true;
  avcodec_send_packet(decoder_.get(), nullptr);
  const auto expected = expected_packets();
  if (cut_.empty() && packets_ < expected)
    cut_ = "it holds " + std::to_string(packets_) + " of " + std::to_string(expected) + " frames";
}

std::int64_t Reader::expected_packets() const noexcept {
  // An MP4's edit list may leave out some of the frames; the index then has only the others.
  if (is_mp4(*format_->iformat)) return avformat_index_get_entries_count(stream_);
  // An AVI counts repeated frames that have no bytes and are never read: some may be missing.
  return stream_->nb_frames - stream_->nb_frames / 50 - 1;
}

std::int64_t Reader::frame_ns() const noexcept {
  const auto rate = av_guess_frame_rate(format_, stream_, nullptr);
  return rate.num > 0 && rate.den > 0 ? av_rescale_q(1, av_inv_q(rate), kNanosecond) : kUsualFrameNs;
}

void Reader::set_time() {
  const auto pts = frame_->best_effort_timestamp;
  auto at = pts_ns_ < 0 ? 0 : pts_ns_ + frame_ns();
  if (pts != AV_NOPTS_VALUE) {
    if (first_pts_ == AV_NOPTS_VALUE) first_pts_ = pts - av_rescale_q(at, kNanosecond, stream_->time_base);
    const auto told = av_rescale_q(pts - first_pts_, stream_->time_base, kNanosecond);
    // Where a stream's clock jumps back it goes on from what has been told.
    if (told >= pts_ns_)
      at = told;
    else
      first_pts_ = pts - av_rescale_q(at, kNanosecond, stream_->time_base);
  }
  pts_ns_ = at;
}

void Reader::check_stopped(int averror) const {
  if (averror >= 0) return;
  if (stop_.interrupted()) throw Refusal(RL_VIDEO_CANCELLED, "interrupted");
  if (stop_.expired())
    throw Refusal(RL_VIDEO_TIMEOUT, "nothing came for " + std::to_string(stop_.limit().count() / 1'000'000) + " ms");
}

void Reader::convert(std::int32_t pixels, std::uint8_t* bytes, std::size_t size) {
  if (frames_ == 0) throw Refusal(RL_VIDEO_INVALID, "no frame has been read");
  if (is_on_gpu(*frame_)) GpuDecoding::download(*frame_, *downloaded_);
  converter_.convert(is_on_gpu(*frame_) ? *downloaded_ : *frame_, pixels, orientation_, bytes, size);
}

void Reader::totals(rl_video_totals& out) const noexcept {
  out.frames = frames_;
  out.damaged = damaged_;
  out.interlaced = interlaced_;
  out.cut = cut_.empty() ? 0 : 1;
  std::strncpy(out.reason, cut_.c_str(), sizeof out.reason - 1);
  out.reason[sizeof out.reason - 1] = '\0';
}

}  // namespace ridgeline::video_plugin
