// How a thread waits for another that is about to finish a few instructions' work: it spins a
// little, then gives its CPU away, since the other may have been preempted on this very one.
#ifndef TCACT_SERVER_CORE_ACT_BACKOFF_H_
#define TCACT_SERVER_CORE_ACT_BACKOFF_H_

#include <sched.h>

namespace tcact::act {

class Backoff {
 public:
  void Pause() {
    if (++pauses_ < kSpins) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      sched_yield();
    }
  }
  int pauses() const { return pauses_; }

 private:
  static constexpr int kSpins = 64;
  int pauses_ = 0;
};

}  // namespace tcact::act

#endif  // TCACT_SERVER_CORE_ACT_BACKOFF_H_
