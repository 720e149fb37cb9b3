#pragma once

namespace poprt::dump {

/// What of a container is shown. Metadata and anchors always are.
struct Selection {
  bool payloads = true;   ///< opaques, stored tensors, executables
  bool steps = false;     ///< of the programs
  bool blobs = false;     ///< the blob table
  bool plan = false;      ///< what the programs do on the IPU
  bool verified = false;  ///< the result of verification
};

}  // namespace poprt::dump
