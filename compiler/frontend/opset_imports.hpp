#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace poprt::frontend {

/// Versions of operators by domain; the default domain's name is empty.
using OpsetVersions = std::map<std::string, int, std::less<>>;

/// The name of a domain as OpsetVersions has it: "ai.onnx" is the default domain.
std::string_view NormalizedDomain(std::string_view domain);

/// True for the names of ONNX's default domain.
inline bool IsDefaultDomain(std::string_view domain) { return NormalizedDomain(domain).empty(); }

/// True for the domains whose operators the operator table may have.
bool IsKnownDomain(std::string_view domain);

/// What `model` imports. Checks the versions of known domains; several problems are separated by
/// line feeds. A model older than opset imports uses the first opset.
absl::Status ReadOpsetImports(const onnx::ModelProto& model, OpsetVersions* versions);

/// As above for what a function of a model imports.
absl::Status ReadOpsetImports(const onnx::FunctionProto& function, OpsetVersions* versions);

/// Which version of its operator a node means: that of the model, or of the function it came from.
class NodeOpsets {
 public:
  NodeOpsets() = default;
  explicit NodeOpsets(OpsetVersions model)
      : model_(std::make_shared<const OpsetVersions>(std::move(model))) {}

  const OpsetVersions& model() const { return *model_; }
  /// 0 when the node's domain is not imported.
  int Of(const onnx::NodeProto& node) const;
  /// The node, which must stay where it is, means the versions of a function; what the function
  /// does not import is taken from the model.
  void Set(const onnx::NodeProto& node, std::shared_ptr<const OpsetVersions> versions);

 private:
  std::shared_ptr<const OpsetVersions> model_ = std::make_shared<const OpsetVersions>();
  std::unordered_map<const onnx::NodeProto*, std::shared_ptr<const OpsetVersions>> others_;
};

}  // namespace poprt::frontend
