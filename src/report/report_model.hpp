// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/json.hpp"

namespace ridgeline::report {

/// Plain text with `code` and **strong** marks only; renderers escape the rest.
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
  };
  std::string caption;
  std::vector<Column> columns;
  struct Row {
    std::vector<std::string> cells;
    Tone tone = Tone::neutral;
    std::string anchor;   ///< "trial-7", or ""
  };
  std::vector<Row> rows;
};

/// An ECharts option object with a text alternative; Markdown shows only the alternative. Colours come from the theme:
/// the option names series roles, not colours.
struct Chart {
  std::string id;
  std::string title;
  std::string alternative;  ///< one sentence with the main number
  base::Json option;
  int height_px = 320;
};

/// Key and value pairs (environment, model).
struct Facts {
  std::vector<std::pair<std::string, std::string>> rows;
};

using Block = std::variant<Paragraph, Callout, BulletList, CodeBlock, Table, Chart, Facts>;

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
};

}  // namespace ridgeline::report
