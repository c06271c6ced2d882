// SPDX-License-Identifier: Apache-2.0
#include "stream/annotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"

namespace ridgeline::stream {
namespace {

constexpr std::array<Colour, 8> kPalette{{{56, 56, 255},
                                          {255, 178, 29},
                                          {49, 210, 72},
                                          {10, 165, 255},
                                          {255, 87, 221},
                                          {34, 220, 255},
                                          {220, 220, 90},
                                          {132, 90, 255}}};
constexpr Colour kDark{0, 0, 0};
constexpr Colour kLight{255, 255, 255};
constexpr Colour kAlarm{0, 0, 200};
constexpr double kFarthest = 1e6;  // of a coordinate

/// Lines and letters of a picture of 720 rows are two pixels wide.
int pen_of(const Canvas& canvas) { return std::clamp(canvas.height() / 360, 1, 12); }

/// One result, with those within it.
class ResultDrawing {
 public:
  ResultDrawing(Canvas& canvas, const CanvasPlace& place) : canvas_(canvas), place_(place), pen_(pen_of(canvas)) {}

  void draw(const base::Json& result) {
    if (!result.is_object()) return;
    if (const auto text = caption_of(result); !text.empty())
      canvas_.text(2 * pen_, 2 * pen_, text, pen_, kDark, kPalette[0]);
    draw_parts(result);
  }

 private:
  struct Place {
    int x = 0;
    int y = 0;
  };

  void draw_parts(const base::Json& result) {
    if (!result.is_object()) return;
    for_each(result, "boxes", [&](const base::Json& box) { draw_box(box); });
    std::size_t number = 0;
    for_each(result, "keypoints", [&](const base::Json& point) { draw_keypoint(point, number++); });
  }

  template <typename Each>
  static void for_each(const base::Json& result, const char* key, const Each& each) {
    const auto found = result.find(key);
    if (found == result.end() || !found->is_array()) return;
    for (const auto& one : *found)
      if (one.is_object()) each(one);
  }

  [[nodiscard]] Place on_canvas(double x, double y) const {
    const auto whole = [](double value) {
      return static_cast<int>(std::lround(std::clamp(value, -kFarthest, kFarthest)));
    };
    return {whole(x * place_.scale + place_.x), whole(y * place_.scale + place_.y)};
  }

  /// Of [left, top, right, bottom] or [[x, y], ...].
  [[nodiscard]] std::vector<Place> corners_of(const base::Json& box) const {
    std::vector<Place> corners;
    if (!box.is_array() || box.size() != 4) return corners;
    if (std::all_of(box.begin(), box.end(), [](const auto& one) { return one.is_number(); })) {
      const double left = box[0], top = box[1], right = box[2], bottom = box[3];
      return {on_canvas(left, top), on_canvas(right, top), on_canvas(right, bottom), on_canvas(left, bottom)};
    }
    for (const auto& point : box)
      if (is_point(point)) corners.push_back(on_canvas(point[0], point[1]));
    return corners;
  }
  [[nodiscard]] static bool is_point(const base::Json& point) {
    return point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number();
  }

  void draw_box(const base::Json& box) {
    const auto corners = corners_of(box.value(box.contains("points") ? "points" : "box", base::Json()));
    if (corners.empty()) return;
    const int number = box.contains("class") && box["class"].is_number_integer() ? box["class"].get<int>() : 0;
    const auto& colour = kPalette[static_cast<std::size_t>(std::max(0, number)) % kPalette.size()];
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const auto& to = corners[(i + 1) % corners.size()];
      canvas_.line(corners[i].x, corners[i].y, to.x, to.y, pen_, colour);
    }
    std::size_t number_of_point = 0;
    for_each(box, "keypoints", [&](const base::Json& point) { draw_keypoint(point, number_of_point++); });
    auto text = text_of(box);
    if (const auto crop = box.find("crop"); crop != box.end()) {
      draw_parts(*crop);
      const bool has_class = box.contains("label") || box.contains("class");
      if (const auto caption = caption_of(*crop); !caption.empty()) text = has_class ? text + ", " + caption : caption;
    }
    if (!text.empty()) canvas_.text(corners[0].x, corners[0].y - Canvas::text_height(pen_), text, pen_, kDark, colour);
  }

  /// What a whole picture is or says: "tabby 0.83", "EXIT 24 0.98".
  [[nodiscard]] static std::string caption_of(const base::Json& result) {
    if (!result.is_object()) return "";
    if (const auto classes = result.find("classes"); classes != result.end() && classes->is_array())
      return classes->empty() || !classes->front().is_object() ? "" : text_of(classes->front());
    const auto text = result.find("text");
    if (text == result.end() || !text->is_string() || text->get_ref<const std::string&>().empty()) return "";
    return with_score(text->get<std::string>(), result);
  }

  /// "car 0.91"
  [[nodiscard]] static std::string text_of(const base::Json& box) {
    std::string text;
    if (box.contains("label") && box["label"].is_string()) {
      text = box["label"].get<std::string>();
    } else if (box.contains("class") && box["class"].is_number_integer()) {
      text = fmt::format("class {}", box["class"].get<int>());
    }
    return with_score(std::move(text), box);
  }
  [[nodiscard]] static std::string with_score(std::string text, const base::Json& scored) {
    if (const auto score = scored.find("score"); score != scored.end() && score->is_number())
      text += fmt::format("{}{:.2f}", text.empty() ? "" : " ", score->get<double>());
    return text;
  }

  void draw_keypoint(const base::Json& keypoint, std::size_t number) {
    const auto point = keypoint.value("point", base::Json());
    if (!is_point(point)) return;
    const auto centre = on_canvas(point[0], point[1]);
    const int size = 2 * pen_ + 1;
    canvas_.fill(centre.x - pen_ - 1, centre.y - pen_ - 1, size + 2, size + 2, kDark);
    canvas_.fill(centre.x - pen_, centre.y - pen_, size, size, kPalette[number % kPalette.size()]);
  }

  Canvas& canvas_;
  CanvasPlace place_;
  int pen_;
};

}  // namespace

void draw_result(Canvas& canvas, std::string_view json, const CanvasPlace& place) {
  const auto result = base::parse_json(json, "result");
  if (result) ResultDrawing(canvas, place).draw(*result);
}

void draw_gap(Canvas& canvas, std::string_view reason) {
  const int pen = pen_of(canvas);
  canvas.text(2 * pen, 2 * pen, fmt::format("no result: {}", reason), 2 * pen, kLight, kAlarm);
}

}  // namespace ridgeline::stream
