#include "runtime/device/device_locks.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace poprt::device {
namespace {

constexpr int kNone = -1;
/// To open a file that others make and delete.
constexpr int kAttempts = 10;
/// Every user may lock every device, and nobody may remove the files of others.
constexpr mode_t kFolderMode = 01777;
constexpr mode_t kFileMode = 0666;

[[noreturn]] void Fail(const std::string& what, const std::string& path,
                       const std::string& reason) {
  throw DeviceError("cannot " + what + " '" + path + "' for the locks of devices: " + reason +
                    ". Set POPRT_DEVICE_LOCK_DIR to a folder that all users of the devices may "
                    "write to");
}

[[noreturn]] void Fail(const std::string& what, const std::string& path) {
  Fail(what, path, std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
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
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // it may be a pipe
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
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

struct stat StatusOf(int descriptor, const std::string& path) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) Fail("examine", path);
  return status;
}

/// False if another process has locked it.
bool LockFile(int descriptor, const std::string& path) {
  int result = 0;
  do {
    result = flock(descriptor, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EWOULDBLOCK) Fail("lock", path);
  return result == 0;
}

/// A locked file that is still the one of that name; kNone if another process has locked it.
int OpenAndLock(int folder, const std::string& name, const std::string& path) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    File file(OpenFile(folder, name, path));
    const struct stat mine = StatusOf(file.get(), path);
    if (!S_ISREG(mine.st_mode)) Fail("lock", path, "it is no regular file");
    if (!LockFile(file.get(), path)) return kNone;
    struct stat named = {};
    const bool exists = fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && named.st_dev == mine.st_dev && named.st_ino == mine.st_ino) {
      return file.Release();
    }
  }
  Fail("lock", path, "other programs keep deleting it");
}

std::string CanonicalPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> canonical(realpath(path.c_str(), nullptr),
                                                              &std::free);
  return canonical == nullptr ? path : canonical.get();
}

/// FNV-1a: the same in every process.
std::uint64_t Hash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

/// A socket that has the abstract name of the file. Nothing if another process has it; kNone where
/// there are no such sockets.
std::optional<int> TakeName(const std::string& path) {
  File socket_file(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket_file.get() == kNone) return kNone;
  const std::string name = "poprt-device-" + std::to_string(Hash(path));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);  // after the zero of abstract names
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets are named
  if (bind(socket_file.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) {
    return socket_file.Release();
  }
  if (errno == EADDRINUSE) return std::nullopt;
  return kNone;
}

std::string FolderName(const std::optional<std::string>& folder) {
  if (folder) return *folder;
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    const char* temporary = std::getenv(variable);
    if (temporary != nullptr && *temporary != '\0') {
      return std::string(temporary) + "/poprt-devices";
    }
  }
  return "/tmp/poprt-devices";
}

}  // namespace

/// All there are, for fork(), which must not happen while one of them changes.
class DeviceLocks::AllLocks {
 public:
  static AllLocks& Get() {
    static auto* all = new AllLocks;
    return *all;
  }

  void Add(DeviceLocks* locks) {
    const std::lock_guard lock(mutex_);
    locks_.push_back(locks);
  }
  void RemoveAndForget(DeviceLocks* locks) {
    const std::lock_guard lock(mutex_);
    std::erase(locks_, locks);
    locks->Forget();
  }

 private:
  AllLocks() { pthread_atfork(&BeforeFork, &InParent, &InChild); }

  static void BeforeFork() {
    Get().mutex_.lock();
    for (DeviceLocks* locks : Get().locks_) locks->mutex_.lock();
  }
  static void InParent() {
    for (DeviceLocks* locks : Get().locks_) locks->mutex_.unlock();
    Get().mutex_.unlock();
  }
  static void InChild() {
    for (DeviceLocks* locks : Get().locks_) locks->Forget();
    InParent();
  }

  std::mutex mutex_;
  std::vector<DeviceLocks*> locks_;
};

DeviceLocks::DeviceLocks(int count, const std::optional<std::string>& folder)
    : folder_(FolderName(folder)),
      is_default_(!folder.has_value()),
      held_(static_cast<std::size_t>(count)) {
  AllLocks::Get().Add(this);
}

DeviceLocks::~DeviceLocks() { AllLocks::Get().RemoveAndForget(this); }

void DeviceLocks::Release(Held& held) {
  // Closing is enough, and in a child of fork() it leaves the lock to the parent. The file last:
  // whoever can lock it finds the name free.
  if (held.name != kNone) close(held.name);
  if (held.file != kNone) close(held.file);
  held = {};
}

void DeviceLocks::Forget() {
  for (Held& held : held_) Release(held);
}

bool DeviceLocks::TryLock(int id) {
  const std::string name = "device" + std::to_string(id) + ".lock";
  const std::lock_guard lock(mutex_);
  const File folder(OpenFolder(folder_, is_default_));
  File file(OpenAndLock(folder.get(), name, folder_ + "/" + name));
  if (file.get() == kNone) return false;
  const std::optional<int> socket_name = TakeName(CanonicalPath(folder_) + "/" + name);
  if (!socket_name) return false;
  held_[static_cast<std::size_t>(id)] = {.file = file.Release(), .name = *socket_name};
  return true;
}

void DeviceLocks::Unlock(int id) {
  const std::lock_guard lock(mutex_);
  Release(held_[static_cast<std::size_t>(id)]);
}

}  // namespace poprt::device
