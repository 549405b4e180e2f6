// A plain model of the action store: one map, no concurrency, written from the rules alone. The
// model test runs the same instructions on both and compares every answer and every action.
#ifndef TCACT_TESTS_MODEL_STORE_MODEL_H_
#define TCACT_TESTS_MODEL_STORE_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/core/act/types.h"

namespace tcact::act {

struct ModelAction {
  bool standalone = false;
  uint32_t binds = 0;
  std::string params;
  std::string cookie;
  bool no_percpu = false;
  int64_t installed_ms = 0;
  int64_t last_used_ms = 0;
  int64_t first_used_ms = 0;
  uint64_t bytes = 0;
  uint64_t packets = 0;

  uint32_t refs() const { return binds + (standalone ? 1 : 0); }
};

class StoreModel {
 public:
  using Key = std::pair<Kind, uint32_t>;

  // One transaction: whole, or an error and no change.
  Errc Run(const std::vector<Op>& ops, int64_t now_ms) {
    const std::map<Key, ModelAction> before = actions_;
    std::map<Key, InTransaction> touched;
    for (const Op& op : ops) {
      const Errc code = Prepare(op, now_ms, &touched);
      if (code != Errc::kOk) {
        actions_ = before;
        return code;
      }
    }
    for (const auto& [key, in] : touched) Commit(key, in);
    return Errc::kOk;
  }

  bool UpdateStats(Kind kind, uint32_t index, uint64_t bytes, uint64_t packets, int64_t now_ms) {
    const auto found = actions_.find({kind, index});
    if (found == actions_.end()) return false;
    ModelAction& action = found->second;
    action.bytes += bytes;
    action.packets += packets;
    action.last_used_ms = std::max(action.last_used_ms, now_ms);
    if (action.first_used_ms == 0) action.first_used_ms = now_ms;
    return true;
  }

  // Deletes from the start to the first bound action; its index, or 0.
  uint32_t Flush(Kind kind) {
    for (auto next = actions_.lower_bound({kind, 0});
         next != actions_.end() && next->first.first == kind;) {
      if (next->second.binds != 0) return next->first.second;
      next = actions_.erase(next);
    }
    return 0;
  }

  const std::map<Key, ModelAction>& actions() const { return actions_; }

 private:
  // What one transaction has done to one index so far.
  struct InTransaction {
    OpType first = OpType::kCreate;
    bool created = false;
    bool claimed = false;
    bool deleted = false;
    bool reset = false;
    uint32_t pending = 0;  // binds made or given back here
    uint32_t unbinds = 0;
  };

  Key Resolve(const Op& op) const {
    const bool creates =
        op.type == OpType::kCreate || op.type == OpType::kReplace || op.type == OpType::kBind;
    uint32_t index = op.spec.index;
    if (creates && index == 0) {
      for (index = 1; actions_.count({op.spec.kind, index}) != 0;) ++index;
    }
    return {op.spec.kind, index};
  }

  Errc Prepare(const Op& op, int64_t now_ms, std::map<Key, InTransaction>* touched) {
    const Key key = Resolve(op);
    const bool seen = touched->count(key) != 0;
    InTransaction& in = (*touched)[key];
    if (!seen) in.first = op.type;
    const bool creates =
        op.type == OpType::kCreate || op.type == OpType::kReplace || op.type == OpType::kBind;
    if (in.created) return creates ? Errc::kDuplicate : Errc::kNotFound;  // not there until commit
    const auto found = actions_.find(key);
    if (found == actions_.end()) {
      if (!creates) return Errc::kNotFound;
      Create(key, op, now_ms);
      in.created = true;
      return Errc::kOk;
    }
    return PrepareExisting(op, &found->second, &in);
  }

  static Errc PrepareExisting(const Op& op, ModelAction* action, InTransaction* in) {
    switch (op.type) {
      case OpType::kCreate:
        return Errc::kExists;
      case OpType::kReplace:
        if (in->claimed) return Errc::kDuplicate;
        in->claimed = true;
        action->params = std::string(op.spec.params);
        if (op.spec.cookie.size != 0) action->cookie = std::string(op.spec.cookie.view());
        return Errc::kOk;
      case OpType::kDelete:
        if (in->claimed) return Errc::kDuplicate;
        if (action->binds != 0) return Errc::kBound;
        in->claimed = in->deleted = true;
        return Errc::kOk;
      case OpType::kBind:
        if (in->claimed && in->first != OpType::kBind) return Errc::kDuplicate;
        ++action->binds;
        ++in->pending;
        if (op.spec.cookie.size != 0) {
          action->cookie = std::string(op.spec.cookie.view());
          in->claimed = true;
        }
        return Errc::kOk;
      case OpType::kUnbind:
        if (in->pending >= action->binds) {
          return in->pending == 0 || in->first == OpType::kUnbind ? Errc::kNotBound
                                                                  : Errc::kDuplicate;
        }
        ++in->pending;
        ++in->unbinds;
        return Errc::kOk;
      case OpType::kResetStats:
        in->reset = true;
        return Errc::kOk;
    }
    return Errc::kUnknownKind;
  }

  void Create(const Key& key, const Op& op, int64_t now_ms) {
    ModelAction action;
    action.standalone = op.type != OpType::kBind;
    action.binds = op.type == OpType::kBind ? 1 : 0;
    action.params = std::string(op.spec.params);
    action.cookie = std::string(op.spec.cookie.view());
    action.no_percpu = op.spec.no_percpu;
    action.installed_ms = action.last_used_ms = now_ms;
    actions_[key] = action;
  }

  void Commit(const Key& key, const InTransaction& in) {
    ModelAction& action = actions_[key];
    if (in.reset) action.bytes = action.packets = 0;
    action.binds -= in.unbinds;
    if (in.deleted || action.refs() == 0) actions_.erase(key);
  }

  std::map<Key, ModelAction> actions_;
};

}  // namespace tcact::act

#endif  // TCACT_TESTS_MODEL_STORE_MODEL_H_
