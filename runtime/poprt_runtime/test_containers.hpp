#pragma once

#include <cstdint>
#include <memory>

#include "popef/Model.hpp"

/// Small compiled models for tests, made without the compiler.
namespace poprt::runtime::test {

/// y = x, both float32 [rows, length].
std::shared_ptr<popef::Model> CopyModel(std::int64_t rows, std::int64_t length);

/// y = the sum of x over its row, both float32 [rows, length].
std::shared_ptr<popef::Model> RowSumModel(std::int64_t rows, std::int64_t length);

/// y = x * w, float32 [4]; w = (1, 2, 3, 4) is a variable.
std::shared_ptr<popef::Model> VariableModel();

}  // namespace poprt::runtime::test
