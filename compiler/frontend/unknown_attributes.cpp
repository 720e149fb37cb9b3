#include "compiler/frontend/unknown_attributes.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/frontend/opset_imports.hpp"
#include "compiler/frontend/proto/attribute_proto.hpp"
#include "compiler/ir/nearest_name.hpp"
#include "compiler/ops/attribute_names.hpp"

namespace poprt::frontend {
namespace {

std::string Unknown(const std::string& name, const std::vector<std::string>& known) {
  const std::string message = "attribute '" + name + "' is none of the operator's";
  if (known.empty()) return message + ", which has no attributes; remove it";
  const std::optional<std::string> nearest = ir::NearestName(name, known);
  return message + (nearest ? "; did you mean '" + *nearest + "'?" : "") + " (attributes: '" +
         absl::StrJoin(known, "', '") + "'); remove it or correct its name";
}

}  // namespace

absl::Status CheckAttributeNames(const onnx::NodeProto& node) {
  const auto known = ops::AttributeNames(node.op_type(), NormalizedDomain(node.domain()));
  if (!known) return absl::InternalError("the operator's attributes are not listed");
  std::vector<std::string> problems;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    if (IsToolAttribute(name)) continue;
    if (!std::binary_search(known->begin(), known->end(), name)) {
      problems.push_back(Unknown(name, *known));
    }
  }
  return problems.empty() ? absl::OkStatus()
                          : absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

}  // namespace poprt::frontend
