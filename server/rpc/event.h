// What a completion queue's tag points to.
#ifndef TCACT_SERVER_RPC_EVENT_H_
#define TCACT_SERVER_RPC_EVENT_H_

namespace tcact::rpc {

class Event {
 public:
  virtual void Run(bool ok) = 0;

 protected:
  ~Event() = default;
};

// An Event that calls a method of its owner.
template <typename Owner, void (Owner::*kMethod)(bool ok)>
class MethodEvent final : public Event {
 public:
  explicit MethodEvent(Owner* owner) : owner_(owner) {}
  void Run(bool ok) override { (owner_->*kMethod)(ok); }

 private:
  Owner* const owner_;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_EVENT_H_
