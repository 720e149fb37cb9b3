#include "compiler/ir/list_schedule.hpp"

#include <algorithm>
#include <set>

namespace poprt::ir {
namespace {

using Item = std::uint32_t;
using Storage = std::uint32_t;

class ListScheduler {
 public:
  explicit ListScheduler(const ListScheduleProblem& problem)
      : problem_(problem),
        waits_for_(problem.sources.size(), 0),
        successors_(problem.sources.size()),
        growth_(problem.sources.size(), 0),
        users_(problem.bytes.size()),
        users_left_(problem.other_users),
        is_live_(problem.is_live) {
    FindSuccessors();
    FindGrowth();
  }

  std::vector<Item> Run() {
    std::vector<Item> order;
    order.reserve(waits_for_.size());
    for (Item i = 0; i < waits_for_.size(); ++i) {
      if (waits_for_[i] == 0) ready_.insert(RankOf(i));
    }
    while (!ready_.empty()) {
      const Item next = ready_.begin()->item;
      ready_.erase(ready_.begin());
      waits_for_[next] = kTaken;
      order.push_back(next);
      for (const Storage storage : problem_.storages[next]) UseUp(storage, next);
      for (const Item successor : successors_[next]) {
        if (--waits_for_[successor] == 0) ready_.insert(RankOf(successor));
      }
    }
    return order;
  }

 private:
  static constexpr std::int64_t kTaken = -1;

  /// The lowest of the ready items is next.
  struct Rank {
    std::uint32_t stage;
    std::int64_t growth;
    Item item;
    auto operator<=>(const Rank&) const = default;
  };

  Rank RankOf(Item item) const {
    return {problem_.stages.empty() ? 0 : problem_.stages[item], growth_[item], item};
  }

  void FindSuccessors() {
    for (Item i = 0; i < waits_for_.size(); ++i) {
      waits_for_[i] = static_cast<std::int64_t>(problem_.sources[i].size());
      for (const Item source : problem_.sources[i]) successors_[source].push_back(i);
    }
  }

  /// What each item would add to the memory in use if it were the first.
  void FindGrowth() {
    for (Item i = 0; i < waits_for_.size(); ++i) {
      for (const Storage storage : problem_.storages[i]) {
        users_[storage].push_back(i);
        ++users_left_[storage];
      }
    }
    for (Item i = 0; i < waits_for_.size(); ++i) {
      for (const Storage storage : problem_.storages[i]) {
        if (!is_live_[storage]) growth_[i] += problem_.bytes[storage];
        if (users_left_[storage] == 1) growth_[i] -= problem_.bytes[storage];
      }
    }
  }

  /// Takes note that an item that uses the storage has run.
  void UseUp(Storage storage, Item item) {
    if (!is_live_[storage]) {
      is_live_[storage] = true;
      for (const Item user : users_[storage]) {
        if (user != item) Shrink(user, problem_.bytes[storage]);
      }
    }
    if (--users_left_[storage] != 1) return;
    const std::vector<Item>& users = users_[storage];
    const auto last = std::find_if(users.begin(), users.end(),
                                   [this](Item user) { return waits_for_[user] != kTaken; });
    if (last != users.end()) Shrink(*last, problem_.bytes[storage]);
  }

  void Shrink(Item item, std::int64_t bytes) {
    const bool is_ready = ready_.erase(RankOf(item)) > 0;
    growth_[item] -= bytes;
    if (is_ready) ready_.insert(RankOf(item));
  }

  const ListScheduleProblem& problem_;
  // For every item:
  std::vector<std::int64_t> waits_for_;  // items that it needs and that have not run
  std::vector<std::vector<Item>> successors_;
  std::vector<std::int64_t> growth_;
  // For every storage:
  std::vector<std::vector<Item>> users_;
  std::vector<std::size_t> users_left_;
  std::vector<bool> is_live_;
  std::set<Rank> ready_;
};

}  // namespace

std::vector<Item> ListSchedule(const ListScheduleProblem& problem) {
  return ListScheduler(problem).Run();
}

}  // namespace poprt::ir
