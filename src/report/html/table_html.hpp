// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report_model.hpp"

namespace ridgeline::report {

/// A figure with the table. What a phone shows follows from the table's width: the same table, a list of label and
/// value for each row ("cards"), or a table that scrolls within its box, its columns of text below the numbers
/// ("stacked").
[[nodiscard]] std::string table_html(const Table& table);

}  // namespace ridgeline::report
