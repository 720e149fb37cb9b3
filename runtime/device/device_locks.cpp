#include "runtime/device/device_locks.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace poprt::device {
namespace {

constexpr int kNone = -1;
/// Every user may lock every device, and nobody may remove the files of others.
constexpr mode_t kFolderMode = 01777;
constexpr mode_t kFileMode = 0666;

/// All there are, for the child that fork() makes.
class AllLocks {
 public:
  static AllLocks& Get() {
    static auto* all = new AllLocks;
    return *all;
  }

  void Add(DeviceLocks* locks) {
    const std::lock_guard lock(mutex_);
    locks_.push_back(locks);
  }
  void Remove(DeviceLocks* locks) {
    const std::lock_guard lock(mutex_);
    std::erase(locks_, locks);
  }

 private:
  AllLocks() { pthread_atfork(&BeforeFork, &InParent, &InChild); }

  static void BeforeFork() { Get().mutex_.lock(); }
  static void InParent() { Get().mutex_.unlock(); }
  static void InChild() {
    for (DeviceLocks* locks : Get().locks_) locks->Forget();
    Get().mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<DeviceLocks*> locks_;
};

[[noreturn]] void Fail(const std::string& what, const std::string& path) {
  const std::string reason = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
  throw DeviceError("cannot " + what + " '" + path + "' for the locks of devices: " + reason +
                    ". Set POPRT_DEVICE_LOCK_DIR to a folder that all users of the devices may "
                    "write to");
}

/// Closes on destruction.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ != kNone) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int get() const { return descriptor_; }
  int Release() {
    const int descriptor = descriptor_;
    descriptor_ = kNone;
    return descriptor;
  }

 private:
  int descriptor_;
};

int OpenFolder(const std::string& folder, bool is_default) {
  if (mkdir(folder.c_str(), kFolderMode) == 0) {
    chmod(folder.c_str(), kFolderMode);  // whatever the umask says
  } else if (errno != EEXIST) {
    Fail("make folder", folder);
  }
  // Others may have put a link where the default is.
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (is_default ? O_NOFOLLOW : 0);
  const int descriptor = open(folder.c_str(), flags);
  if (descriptor == kNone) Fail("open folder", folder);
  return descriptor;
}

/// Opened for reading, which is all that locks need: the file may be another user's.
int OpenFile(int folder, const std::string& name, const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
  for (int attempt = 0; attempt < 2; ++attempt) {
    int descriptor = openat(folder, name.c_str(), kFlags);
    if (descriptor != kNone) return descriptor;
    if (errno != ENOENT) break;
    descriptor = openat(folder, name.c_str(), kFlags | O_CREAT | O_EXCL, kFileMode);
    if (descriptor != kNone) {
      fchmod(descriptor, kFileMode);
      return descriptor;
    }
    if (errno != EEXIST) break;  // otherwise another process was faster
  }
  Fail("open", path);
}

std::string FolderName(const std::optional<std::string>& folder) {
  if (folder) return *folder;
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  if (error) {
    errno = error.value();
    Fail("find", "the folder for temporary files");
  }
  return (temporary / "poprt-devices").string();
}

}  // namespace

DeviceLocks::DeviceLocks(int count, const std::optional<std::string>& folder)
    : folder_(FolderName(folder)),
      is_default_(!folder.has_value()),
      files_(static_cast<std::size_t>(count), kNone) {
  AllLocks::Get().Add(this);
}

DeviceLocks::~DeviceLocks() {
  AllLocks::Get().Remove(this);
  Forget();
}

void DeviceLocks::Forget() {
  // Without the mutex: a thread the child does not have may hold it.
  for (int& file : files_) {
    if (file != kNone) close(file);
    file = kNone;
  }
}

bool DeviceLocks::TryLock(int id) {
  const std::string name = "device" + std::to_string(id) + ".lock";
  const std::lock_guard lock(mutex_);
  const File folder(OpenFolder(folder_, is_default_));
  const std::string path = folder_ + "/" + name;
  File file(OpenFile(folder.get(), name, path));
  int result = 0;
  do {
    result = flock(file.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    if (errno == EWOULDBLOCK) return false;
    Fail("lock", path);
  }
  files_[static_cast<std::size_t>(id)] = file.Release();
  return true;
}

void DeviceLocks::Unlock(int id) {
  const std::lock_guard lock(mutex_);
  int& file = files_[static_cast<std::size_t>(id)];
  // Closing is enough, and in a child of fork() it leaves the lock to the parent.
  if (file != kNone) close(file);
  file = kNone;
}

}  // namespace poprt::device
