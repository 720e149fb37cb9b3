#include "tools/popef_dump/ipu_plan.hpp"

#include <stdexcept>
#include <utility>

namespace poprt::dump {
namespace {

constexpr std::uint64_t kSchema = 1;

[[noreturn]] void Refuse(const std::string& what) {
  throw std::runtime_error("not a plan for the IPU: " + what);
}

}  // namespace

IpuPlan ParseIpuPlan(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  IpuPlan plan{.json = nlohmann::ordered_json::parse(text, text + bytes.size(), nullptr,
                                                     /*allow_exceptions=*/false),
               .summary = ""};
  if (!plan.json.is_object()) Refuse("it is no JSON object");
  const auto schema = plan.json.find("schema");
  if (schema == plan.json.end() || *schema != kSchema) {
    Refuse("this tool reads \"schema\" " + std::to_string(kSchema) + " only");
  }
  const auto summary = plan.json.find("summary");
  if (summary == plan.json.end() || !summary->is_string()) Refuse("it has no text \"summary\"");
  plan.summary = summary->get<std::string>();
  return plan;
}

}  // namespace poprt::dump
