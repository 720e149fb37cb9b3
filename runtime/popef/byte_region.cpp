#include "runtime/popef/byte_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "popef/Types.hpp"

namespace popef {
namespace {

constexpr std::size_t kFirstCapacity = std::size_t{1} << 20;

[[noreturn]] void FailSystem(const std::string& path, const std::string& what) {
  throw Error(path + ": " + what + " failed: " + std::generic_category().message(errno));
}

/// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::shared_ptr<const ByteRegion> ByteRegion::MapFile(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer before it can be refused.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) FailSystem(path, "opening");
  struct stat status {};
  if (fstat(file.get(), &status) != 0) FailSystem(path, "reading the size");
  if (S_ISDIR(status.st_mode)) {
    throw Error(path +
                ": a folder, allowed is a PopEF file; give one in it, e.g. executable.popef");
  }
  if (!S_ISREG(status.st_mode)) throw Error(path + ": not a regular file, allowed is a PopEF file");
  std::shared_ptr<ByteRegion> region(new ByteRegion);
  region->size_ = region->capacity_ = static_cast<std::size_t>(status.st_size);
  if (region->size_ == 0) return region;
  void* address = mmap(nullptr, region->size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) {
    region->capacity_ = 0;
    FailSystem(path, "mapping");
  }
  region->data_ = static_cast<std::byte*>(address);
  return region;
}

std::shared_ptr<const ByteRegion> ByteRegion::ReadStream(std::istream& in, std::uint64_t size,
                                                         const std::string& name) {
  std::shared_ptr<ByteRegion> region(new ByteRegion);
  // Grows with what arrives: `size` is only a promise.
  while (in.good() && (size == 0 || region->size_ < size)) {
    if (region->size_ == region->capacity_) {
      region->Grow(std::max(kFirstCapacity, 2 * region->capacity_));
    }
    std::uint64_t room = region->capacity_ - region->size_;
    if (size != 0) room = std::min(room, size - region->size_);
    in.read(reinterpret_cast<char*>(region->data_ + region->size_),
            static_cast<std::streamsize>(room));
    region->size_ += static_cast<std::size_t>(in.gcount());
  }
  if (in.bad()) throw Error(name + ": reading failed at byte " + std::to_string(region->size_));
  if (size != 0 && region->size_ < size) {
    throw Error(name + ": the stream ends after " + std::to_string(region->size_) +
                " bytes, asked for were " + std::to_string(size));
  }
  return region;
}

void ByteRegion::Grow(std::size_t capacity) {
  void* address = data_ == nullptr ? mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                   : mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
  if (address == MAP_FAILED) FailSystem("stream", "allocating memory");
  data_ = static_cast<std::byte*>(address);
  capacity_ = capacity;
}

ByteRegion::~ByteRegion() {
  if (data_ != nullptr) munmap(data_, capacity_);
}

}  // namespace popef
