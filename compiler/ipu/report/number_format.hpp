#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// How the text report writes numbers and names.
namespace poprt::ipu {

/// With thousands separators: 1,472.
std::string Grouped(std::uint64_t number);

/// The same with `decimals` digits after the point: 1,850.0. Negative numbers and those that are
/// not finite are written as 0, they stand for nothing here.
std::string GroupedFixed(double number, int decimals);

/// Part of a whole in percent, with one digit after the point: "12.5%"; "0.0%" of nothing.
std::string Percent(double part, double whole);

/// A name of the model on one line: controls, which could forge lines of the report, and bytes that
/// are not ASCII and not part of UTF-8 are written as \xNN.
std::string OneLine(std::string_view name);

}  // namespace poprt::ipu
