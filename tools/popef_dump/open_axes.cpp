#include "tools/popef_dump/open_axes.hpp"

namespace poprt::dump {

OpenAxes OpenAxesOf(const Contents& contents, const std::string& executable) {
  OpenAxes axes;
  for (const Executable& candidate : contents.executables) {
    if (candidate.name != executable || !candidate.program) continue;
    for (const program::Branch& branch : candidate.program->branches) {
      for (const program::Stream& output : branch.outputs) {
        if (output.extent) axes[output.name] = output.extent->axis;
      }
    }
  }
  return axes;
}

}  // namespace poprt::dump
