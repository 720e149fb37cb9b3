#include "runtime/popef/blob_sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "runtime/popef/blob_header.hpp"

namespace popef {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void FailSystem(const std::string& path, const std::string& what) {
  throw Error(path + ": " + what + " failed: " + std::generic_category().message(errno));
}

void WriteAll(int file, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) FailSystem(path, "writing");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

/// A rename is on the disk only once the folder is. Some file systems cannot flush folders; the
/// file is complete either way.
void FlushFolder(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

/// The file that `path` means: links are followed, so that a link survives being written to.
std::string Target(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return path;
  if (!fs::is_regular_file(status)) {
    throw Error(path + ": exists and is not a regular file, allowed is a file name");
  }
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

StreamSink::StreamSink(std::ostream& out) : out_(out), position_(0) {
  if (!out) throw Error("stream: cannot be written, allowed is an open stream");
  // A stream that already holds blobs keeps its alignment; anything else starts a file of its own.
  const std::streamoff start = out.tellp();
  if (start > 0 && start % static_cast<std::streamoff>(kBlobAlignment) == 0) {
    position_ = static_cast<std::uint64_t>(start);
  }
}

void StreamSink::Write(std::span<const std::byte> bytes) {
  out_.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!out_) throw Error("stream: writing failed at byte " + std::to_string(position_));
  position_ += bytes.size();
}

void StreamSink::Commit() {
  if (!out_.flush()) throw Error("stream: flushing failed");
}

NewFileSink::NewFileSink(const std::string& path) : path_(Target(path)) {
  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = path_ + ".tmp." + std::to_string(getpid()) + "." + std::to_string(counter++);
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) FailSystem(path_, "creating a file beside it");
}

NewFileSink::~NewFileSink() { NewFileSink::Discard(); }

void NewFileSink::Write(std::span<const std::byte> bytes) {
  WriteAll(file_, bytes, path_);
  position_ += bytes.size();
}

void NewFileSink::Commit() {
  if (fsync(file_) != 0) FailSystem(path_, "flushing to the disk");
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary_.c_str());
    temporary_.clear();
    errno = reason;
    FailSystem(path_, "putting the new file in place");
  }
  temporary_.clear();
  const fs::path folder = fs::path(path_).parent_path();
  FlushFolder(folder.empty() ? fs::path(".") : folder);
}

void NewFileSink::Discard() noexcept {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  file_ = -1;
  temporary_.clear();
}

AppendSink::AppendSink(const std::string& path) : path_(path) {
  file_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) FailSystem(path_, "opening to append (use Mode::CREATE for a new file)");
  const off_t end = lseek(file_, 0, SEEK_END);
  if (end < 0) {
    const int reason = errno;
    close(file_);
    errno = reason;
    FailSystem(path_, "seeking to the end");
  }
  start_ = position_ = static_cast<std::uint64_t>(end);
}

AppendSink::~AppendSink() {
  if (file_ >= 0) close(file_);
}

void AppendSink::Write(std::span<const std::byte> bytes) {
  WriteAll(file_, bytes, path_);
  position_ += bytes.size();
}

void AppendSink::Commit() {
  if (fsync(file_) != 0) FailSystem(path_, "flushing to the disk");
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) FailSystem(path_, "closing");
}

void AppendSink::Discard() noexcept {
  if (file_ < 0) return;
  // Best effort: the error that led here is the one to report.
  [[maybe_unused]] const int result = ftruncate(file_, static_cast<off_t>(start_));
  close(file_);
  file_ = -1;
}

}  // namespace popef
