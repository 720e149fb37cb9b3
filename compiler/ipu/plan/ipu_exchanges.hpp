#pragma once

#include <cstdint>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Makes the plan of a graph whose operators name several IPUs one in which an operator reads what
/// its own IPU holds. What another made is a copy, priced by the links between IPUs (section 1.4):
/// before the first operator that reads it stand "IpuSend" on the IPU that has it and "IpuReceive"
/// on the one that wants it; all the time that takes is told of the receiver, as both do it
/// together. Inputs are loaded by the IPU that reads them first and outputs stored by the one that
/// makes them: "HostLoad" and "HostStore" become one for each such IPU. Weights lie on every IPU
/// that reads them. Lifetimes are those of the new order. Does nothing if all is on IPU 0.
void AddIpuExchanges(const Target& target, const Platform& platform, GraphPlan& plan);

}  // namespace poprt::ipu
