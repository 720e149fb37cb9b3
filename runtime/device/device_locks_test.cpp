#include "runtime/device/device_locks.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "runtime/device/device_registry.hpp"

namespace poprt::device {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "device_locks_test.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot create a temporary folder";
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string ErrorOf(const std::string& folder) {
  try {
    DeviceLocks(1, folder).TryLock(0);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

/// A child process that does something, says so, and waits to be killed.
class Child {
 public:
  template <typename Action>
  explicit Child(const Action& action) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) ADD_FAILURE() << "cannot make a pipe";
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      const char result = action() ? 'y' : 'n';
      if (write(ends[1], &result, 1) != 1) _exit(1);
      while (true) pause();
    }
    close(ends[1]);
    if (read(ends[0], &result_, 1) != 1) ADD_FAILURE() << "the child process has ended";
    close(ends[0]);
  }
  ~Child() { Kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool result() const { return result_ == 'y'; }

  void Kill() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  char result_ = 0;
};

TEST(DeviceLocksTest, OneHasADeviceAtATime) {
  const Folder folder;
  DeviceLocks first(2, folder.path("locks"));
  DeviceLocks second(2, folder.path("locks"));
  EXPECT_TRUE(first.TryLock(0));
  EXPECT_FALSE(second.TryLock(0));
  EXPECT_TRUE(second.TryLock(1));
  first.Unlock(0);
  EXPECT_TRUE(second.TryLock(0));
}

TEST(DeviceLocksTest, FilesAreForEveryUser) {
  const Folder folder;
  const mode_t before = umask(077);
  DeviceLocks locks(1, folder.path("locks"));
  EXPECT_TRUE(locks.TryLock(0));
  umask(before);
  struct stat found = {};
  ASSERT_EQ(stat(folder.path("locks").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 01777U);
  ASSERT_EQ(stat(folder.path("locks/device0.lock").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0666U);
}

TEST(DeviceLocksTest, NamesAFolderThatCannotBeUsed) {
  const Folder folder;
  std::ofstream(folder.path("file")) << "no folder";
  const std::string advice =
      ". Set POPRT_DEVICE_LOCK_DIR to a folder that all users of the devices may write to";
  EXPECT_EQ(ErrorOf(folder.path("file")), "cannot open folder '" + folder.path("file") +
                                              "' for the locks of devices: Not a directory" +
                                              advice);
  EXPECT_EQ(ErrorOf(folder.path("no/where")), "cannot make folder '" + folder.path("no/where") +
                                                  "' for the locks of devices: No such file or "
                                                  "directory" +
                                                  advice);
  std::filesystem::create_directory(folder.path("locks"));
  std::filesystem::create_symlink("elsewhere", folder.path("locks/device0.lock"));
  EXPECT_NE(ErrorOf(folder.path("locks")), "");
}

TEST(DeviceLocksTest, RefusesWhatIsNoFile) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("locks"));
  const std::string name = folder.path("locks/device0.lock");
  ASSERT_EQ(mkfifo(name.c_str(), 0666), 0);
  EXPECT_EQ(ErrorOf(folder.path("locks")),
            "cannot lock '" + name +
                "' for the locks of devices: it is no regular file. Set POPRT_DEVICE_LOCK_DIR to a "
                "folder that all users of the devices may write to");
}

TEST(DeviceLocksTest, DeletingFilesUnlocksNothing) {
  const Folder folder;
  DeviceLocks first(1, folder.path("locks"));
  DeviceLocks second(1, folder.path("locks"));
  EXPECT_TRUE(first.TryLock(0));
  std::filesystem::remove_all(folder.path("locks"));
  EXPECT_FALSE(second.TryLock(0));
  first.Unlock(0);
  EXPECT_TRUE(second.TryLock(0));
  EXPECT_FALSE(first.TryLock(0));
}

TEST(DeviceLocksTest, AKilledProcessLeavesNothingBehind) {
  const Folder folder;
  DeviceLocks locks(1, folder.path("locks"));
  Child child([&] { return locks.TryLock(0); });
  EXPECT_TRUE(child.result());
  EXPECT_FALSE(locks.TryLock(0));
  child.Kill();
  EXPECT_TRUE(locks.TryLock(0));
}

TEST(DeviceLocksTest, AChildHasNoneOfTheLocksOfItsParent) {
  const Folder folder;
  DeviceLocks locks(1, folder.path("locks"));
  DeviceLocks other(1, folder.path("locks"));
  ASSERT_TRUE(locks.TryLock(0));
  const Child child([&] {
    locks.Unlock(0);  // has no effect on the parent
    return !other.TryLock(0);
  });
  EXPECT_TRUE(child.result());
  EXPECT_FALSE(other.TryLock(0));
  locks.Unlock(0);
  EXPECT_TRUE(other.TryLock(0));
}

TEST(DeviceRegistryTest, AChildHasNoneOfTheDevicesOfItsParent) {
  DeviceRegistry& registry = DeviceRegistry::Get();
  auto device = registry.AcquireById(0);
  const auto has_device = [&] {
    try {
      registry.AcquireById(0);
    } catch (const DeviceError&) {
      return true;
    }
    return false;
  };
  const Child child([&] {
    if (registry.Acquire()->id() != 1) return false;
    device.reset();  // has no effect on the parent
    return has_device();
  });
  EXPECT_TRUE(child.result());
  EXPECT_TRUE(has_device());
}

TEST(DeviceRegistryTest, WhatAChildHasInheritedDoesNotReleaseItsOwn) {
  DeviceRegistry& registry = DeviceRegistry::Get();
  auto inherited = registry.AcquireById(0);
  const pid_t process = fork();
  if (process == 0) {
    const auto mine = registry.AcquireById(0, 60s, 1ms);
    inherited.reset();
    try {
      registry.AcquireById(0);
    } catch (const DeviceError&) {
      _exit(0);
    }
    _exit(1);
  }
  inherited.reset();
  int status = -1;
  ASSERT_EQ(waitpid(process, &status, 0), process);
  EXPECT_EQ(status, 0);
}

TEST(DeviceRegistryTest, ForksWhileOthersAcquire) {
  DeviceRegistry& registry = DeviceRegistry::Get();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) registry.AcquireById(0, 60s, 1ms);
  });
  for (int i = 0; i < 20; ++i) {
    const Child child([&] { return registry.AcquireById(1, 60s, 1ms)->id() == 1; });
    EXPECT_TRUE(child.result());
  }
  stop = true;
  other.join();
}

TEST(DeviceRegistryTest, WaitsForAnotherProcess) {
  DeviceRegistry& registry = DeviceRegistry::Get();
  Child child([&] {
    // Kept until the process is killed.
    auto* const device = new std::shared_ptr<Device>(registry.AcquireById(0));
    return (*device)->id() == 0;
  });
  ASSERT_TRUE(child.result());
  EXPECT_THROW(registry.AcquireById(0, 1ms), DeviceError);
  EXPECT_EQ(registry.Acquire()->id(), 1);
  EXPECT_THROW(registry.AcquireSeveral(registry.size()), DeviceError);
  child.Kill();
  EXPECT_EQ(registry.AcquireById(0, 60s, 1ms)->id(), 0);
  EXPECT_EQ(registry.AcquireSeveral(registry.size()).size(),
            static_cast<std::size_t>(registry.size()));
}

}  // namespace
}  // namespace poprt::device
