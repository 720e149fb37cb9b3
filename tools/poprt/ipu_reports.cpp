#include "tools/poprt/ipu_reports.hpp"

#include <filesystem>
#include <utility>

#include "compiler/emit/write_file.hpp"
#include "compiler/ipu/report/report_html.hpp"
#include "compiler/ipu/report/report_json.hpp"
#include "compiler/ipu/report/trace_json.hpp"

namespace poprt::cli {
namespace fs = std::filesystem;

absl::StatusOr<std::vector<WrittenFile>> WriteIpuReports(const ipu::Plan& plan,
                                                         const std::string& folder) {
  const std::pair<const char*, std::string> reports[] = {{"report.html", ipu::ReportHtml(plan)},
                                                         {"report.json", ipu::ReportJson(plan)},
                                                         {"trace.json", ipu::TraceJson(plan)}};
  std::vector<emit::PendingFile> pending;
  std::vector<WrittenFile> written;
  for (const auto& [name, content] : reports) {
    const std::string path = (fs::path(folder) / name).lexically_normal().string();
    absl::StatusOr<emit::PendingFile> file = emit::PendingFile::Create(path);
    if (!file.ok()) return file.status();
    const absl::Status status = file->Write(emit::FilePieces(content));
    if (!status.ok()) return status;
    pending.push_back(*std::move(file));
    written.push_back({"report", path, content.size()});
  }
  for (emit::PendingFile& file : pending) {
    const absl::Status status = std::move(file).Commit();
    if (!status.ok()) return status;
  }
  return written;
}

}  // namespace poprt::cli
