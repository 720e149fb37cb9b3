#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model_runtime/TensorStream.hpp"
#include "popef/Reader.hpp"

namespace model_runtime {

/// Memory that each run reads.
class MemorySource : public TensorSource {
 public:
  explicit MemorySource(const void* data) : data_(data) {}
  const void* Next() override { return data_; }
  bool IsConstant() const override { return true; }

 private:
  const void* data_;
};

/// Tensors of a container: each run reads the next one, the first after the last.
class ContainerSource : public TensorSource {
 public:
  ContainerSource(popef::PayloadView view, std::uint64_t count)
      : view_(std::move(view)), count_(count) {}
  const void* Next() override { return view_.data + view_.size / count_ * next_; }
  void Consumed() override { next_ = (next_ + 1) % count_; }
  bool IsConstant() const override { return true; }

 private:
  popef::PayloadView view_;
  std::uint64_t count_;
  std::uint64_t next_ = 0;
};

/// Zeros.
class ZeroSource : public TensorSource {
 public:
  explicit ZeroSource(std::uint64_t bytes) : zeros_(bytes + 1) {}
  const void* Next() override { return zeros_.data(); }
  bool IsConstant() const override { return true; }

 private:
  std::vector<std::byte> zeros_;
};

/// Memory that each run writes.
class MemorySink : public TensorSink {
 public:
  explicit MemorySink(void* data) : data_(data) {}
  void* Next() override { return data_; }
  void Filled(std::optional<std::int64_t>) override {}

 private:
  void* data_;
};

/// Drops results.
class NoSink : public TensorSink {
 public:
  void* Next() override { return nullptr; }
  void Filled(std::optional<std::int64_t>) override {}
  bool IsStandIn() const override { return true; }
};

}  // namespace model_runtime
