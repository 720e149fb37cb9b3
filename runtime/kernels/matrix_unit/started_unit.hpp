#pragma once

#include <cstdint>

#include "runtime/kernels/matrix_unit/matrix_unit.hpp"

namespace poprt::kernels {

/// A matrix unit that this thread uses, as long as this lives, for tiles of the last sizes that
/// were asked for.
class StartedUnit {
 public:
  /// `unit` may be null where nothing is asked for.
  explicit StartedUnit(const MatrixUnit* unit) : unit_(unit) {}
  ~StartedUnit() {
    if (rows_ > 0) unit_->stop();
  }
  StartedUnit(const StartedUnit&) = delete;
  StartedUnit& operator=(const StartedUnit&) = delete;

  void Start(std::int64_t rows_of_tile = kSplitRows, std::int64_t pairs_of_step = kSplitGroup) {
    if (rows_of_tile == rows_ && pairs_of_step == pairs_) return;
    unit_->start(rows_of_tile, pairs_of_step);
    rows_ = rows_of_tile;
    pairs_ = pairs_of_step;
  }

 private:
  const MatrixUnit* unit_;
  std::int64_t rows_ = 0;
  std::int64_t pairs_ = 0;
};

}  // namespace poprt::kernels
