// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.hpp"

namespace ridgeline::report {

/// Text fields of blocks (paragraphs, items, cells, fact values, alternatives) are inline text: plain but for the marks
/// `code`, **strong** and [text](#anchor), see inline_text.hpp. Titles, captions, labels and keys are plain. Renderers
/// escape everything.
struct Paragraph {
  std::string text;
};

enum class Tone { neutral, good, warning, bad };

/// A highlighted statement: the verdict, a warning.
struct Callout {
  Tone tone = Tone::neutral;
  std::string title;
  std::string text;
};

struct BulletList {
  std::vector<std::string> items;
};

struct CodeBlock {
  std::string language;
  std::string text;
};

enum class Align { left, right };

struct Table {
  struct Column {
    std::string title;
    Align align = Align::left;
    bool optional = false;   ///< a terminal leaves it out before it cuts other columns' text
    bool keeps_end = false;  ///< of a text that is cut: paths, whose end says most
  };
  std::string caption;
  std::vector<Column> columns;
  struct Row {
    std::vector<std::string> cells;
    Tone tone = Tone::neutral;
    std::string anchor;  ///< "trial-7", or ""
  };
  std::vector<Row> rows;
};

/// An ECharts option object with a text alternative; Markdown shows only the alternative. Colours come from the theme:
/// the option names roles ("role": "best"), not colours, and functions of the page's script by name
/// ("renderItem": "whisker"); a datum's "tip" holds its tooltip lines and "anchor" what a click goes to.
struct Chart {
  std::string id;
  std::string title;
  std::string alternative;  ///< one sentence with the main number
  base::Json option;
  int height_px = 320;
};

/// Events by time, drawn by the page's own script. Elsewhere only the alternative is shown.
struct Timeline {
  std::string id;
  std::string title;
  std::string alternative;
  std::string data;  ///< base64, as trace::page_timeline makes it; "": the alternative only
};

/// A tree of modules, each as wide as its time, drawn by the page's own script. Elsewhere only the alternative is
/// shown.
struct Icicle {
  std::string id;
  std::string title;
  std::string alternative;
  base::Json data;  ///< as report/profile/module_icicle.cpp makes it
};

/// Key and value pairs (environment, model).
struct Facts {
  std::vector<std::pair<std::string, std::string>> rows;
};

/// The few numbers to see first; HTML shows them as tiles.
struct KeyFigures {
  struct Figure {
    std::string label;
    std::string value;
    std::string note;  ///< one short line below, or ""
    Tone tone = Tone::neutral;
  };
  std::vector<Figure> figures;
};

/// Values to compare at a glance, as bars from zero. None: nothing is drawn.
struct Bars {
  struct Bar {
    std::string label;
    std::string text;  ///< the value as it is written
    double value = 0;
    double low = 0;  ///< its interval; empty: not known
    double high = 0;
    Tone tone = Tone::neutral;
  };
  std::string title;
  std::vector<Bar> bars;
};

using Block =
    std::variant<Paragraph, Callout, BulletList, CodeBlock, Table, Chart, Timeline, Icicle, Facts, KeyFigures>;

struct Section {
  std::string id;
  std::string title;
  std::vector<Block> blocks;
};

struct ReportModel {
  std::string title;
  std::string subtitle;
  std::vector<Section> sections;
  std::string footer;
  std::string asked{};  ///< what was measured for what, in one line
  Section answer{};     ///< what came of it, in some 15 lines of a terminal: what a command prints at its end
  Bars bars{};          ///< before and after, for a picture of the answer
};

}  // namespace ridgeline::report
