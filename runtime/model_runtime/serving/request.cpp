#include "model_runtime/serving/request.hpp"

namespace model_runtime {

std::vector<InputBuffer>& InputScratch() {
  thread_local std::vector<InputBuffer> buffers;
  buffers.clear();
  return buffers;
}

std::vector<OutputBuffer>& OutputScratch() {
  thread_local std::vector<OutputBuffer> buffers;
  buffers.clear();
  return buffers;
}

}  // namespace model_runtime
