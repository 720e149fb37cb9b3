#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poprt::ops {

/// The names, in alphabetical order, of the attributes that nodes of an ONNX operator may have in
/// any version of it, whatever its form in the IR. The domain's name is empty for the default one.
/// Nothing for operators that are not known.
std::optional<std::vector<std::string>> AttributeNames(std::string_view op,
                                                       std::string_view domain = {});

/// The operators whose attributes are known, "Relu" or "ai.onnx.ml.Scaler", ordered by the name
/// without the domain.
std::vector<std::string> OpsWithAttributeNames();

}  // namespace poprt::ops
