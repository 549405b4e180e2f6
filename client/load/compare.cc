#include "client/load/compare.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tcact::load {
namespace {

constexpr double kAcquisitionsBar = -0.999;
constexpr double kWaitBar = -0.95;
constexpr double kCpuBar = -0.75;

template <typename T, typename Get>
double MedianOf(const std::vector<T>& items, Get get) {
  std::vector<double> values;
  values.reserve(items.size());
  for (const T& item : items) values.push_back(get(item));
  return Median(std::move(values));
}

double PerPair(double value, const ModeFigures& mode) {
  return mode.pairs > 0 ? value / mode.pairs : 0;
}

std::string Time(double ns) {
  if (ns < 1e3) return absl::StrFormat("%.0f ns", ns);
  if (ns < 1e6) return absl::StrFormat("%.2f us", ns / 1e3);
  if (ns < 1e9) return absl::StrFormat("%.2f ms", ns / 1e6);
  return absl::StrFormat("%.2f s", ns / 1e9);
}

std::string Percent(const std::optional<double>& change) {
  if (!change.has_value()) return "from 0";
  return absl::StrFormat("%+.2f %%", *change * 100);
}

void AppendRow(const LockFigures& lock, std::string* text) {
  absl::StrAppendFormat(text, "  %-22s %12.0f %10.0f %11s %11s %11s %11s\n", lock.name,
                        lock.acquired, lock.contended, Time(lock.wait_avg_ns()),
                        Time(lock.wait_total_ns), Time(lock.wait_max_ns), Time(lock.wait_min_ns));
}

void AppendMode(size_t mode, const ModeFigures& figures, std::string* text) {
  absl::StrAppendFormat(text, "%s: %.0f pairs, %.0f a second, CPU %.2f s, %.3f us a pair\n",
                        kModeNames[mode], figures.pairs, figures.pairs_per_second(), figures.cpu_s,
                        figures.cpu_us_per_pair());
  absl::StrAppendFormat(text, "  %-22s %12s %10s %11s %11s %11s %11s\n", "Name", "acquired",
                        "contended", "avg wait", "total wait", "max wait", "min wait");
  for (const LockFigures& lock : figures.locks) AppendRow(lock, text);
  AppendRow(SumOf(figures.locks), text);
  absl::StrAppend(text, "\n");
}

nlohmann::json LockJson(const LockFigures& lock) {
  return {{"name", lock.name},
          {"acquired", lock.acquired},
          {"contended", lock.contended},
          {"avg_wait_ns", lock.wait_avg_ns()},
          {"total_wait_ns", lock.wait_total_ns},
          {"max_wait_ns", lock.wait_max_ns},
          {"min_wait_ns", lock.wait_min_ns}};
}

}  // namespace

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

ModeFigures JoinRounds(const std::vector<ModeFigures>& rounds) {
  ModeFigures joined;
  joined.pairs = MedianOf(rounds, [](const ModeFigures& r) { return r.pairs; });
  joined.wall_s = MedianOf(rounds, [](const ModeFigures& r) { return r.wall_s; });
  joined.cpu_s = MedianOf(rounds, [](const ModeFigures& r) { return r.cpu_s; });
  std::map<std::string, std::vector<LockFigures>> by_name;
  for (const ModeFigures& round : rounds) {
    for (const LockFigures& lock : round.locks) by_name[lock.name].push_back(lock);
  }
  for (auto& [name, rows] : by_name) {
    rows.resize(rounds.size());
    LockFigures lock;
    lock.name = name;
    lock.acquired = MedianOf(rows, [](const LockFigures& r) { return r.acquired; });
    lock.contended = MedianOf(rows, [](const LockFigures& r) { return r.contended; });
    lock.wait_total_ns = MedianOf(rows, [](const LockFigures& r) { return r.wait_total_ns; });
    lock.wait_max_ns = MedianOf(rows, [](const LockFigures& r) { return r.wait_max_ns; });
    lock.wait_min_ns = MedianOf(rows, [](const LockFigures& r) { return r.wait_min_ns; });
    joined.locks.push_back(std::move(lock));
  }
  std::stable_sort(joined.locks.begin(), joined.locks.end(),
                   [](const LockFigures& a, const LockFigures& b) {
                     if (a.wait_total_ns != b.wait_total_ns) {
                       return a.wait_total_ns > b.wait_total_ns;
                     }
                     return a.acquired > b.acquired;
                   });
  return joined;
}

LockFigures SumOf(const std::vector<LockFigures>& locks) {
  LockFigures sum;
  sum.name = "sum of all locks";
  for (const LockFigures& lock : locks) {
    sum.acquired += lock.acquired;
    sum.contended += lock.contended;
    sum.wait_total_ns += lock.wait_total_ns;
    sum.wait_max_ns = std::max(sum.wait_max_ns, lock.wait_max_ns);
    if (lock.contended > 0 && (sum.wait_min_ns == 0 || lock.wait_min_ns < sum.wait_min_ns)) {
      sum.wait_min_ns = lock.wait_min_ns;
    }
  }
  return sum;
}

std::optional<double> Change(double before, double after) {
  if (before == 0) return after == 0 ? std::optional<double>(0) : std::nullopt;
  return after / before - 1;
}

std::vector<Verdict> Verdicts(const Case& measured, size_t mode) {
  const auto acquisitions = [](const ModeFigures& figures) {
    for (const LockFigures& lock : figures.locks) {
      if (lock.name == kPcpuLock) return PerPair(lock.acquired, figures);
    }
    return 0.0;
  };
  const auto wait = [](const ModeFigures& figures) {
    return PerPair(SumOf(figures.locks).wait_total_ns, figures);
  };
  const ModeFigures& before = measured.modes[0];
  const ModeFigures& after = measured.modes[mode];
  std::vector<Verdict> verdicts = {
      {"pcpu_alloc_mutex acquisitions a pair",
       acquisitions(before),
       acquisitions(after),
       {},
       kAcquisitionsBar},
      {"wait a pair, all locks (ns)", wait(before), wait(after), {}, kWaitBar},
      {"CPU a pair (us)", before.cpu_us_per_pair(), after.cpu_us_per_pair(), {}, kCpuBar},
  };
  for (Verdict& verdict : verdicts) verdict.change = Change(verdict.before, verdict.after);
  return verdicts;
}

std::string CompareText(const Case& measured) {
  std::string text = absl::StrCat("== ", measured.title, " ==\n\n");
  for (size_t mode = 0; mode < kModes; ++mode) AppendMode(mode, measured.modes[mode], &text);
  for (size_t mode = 1; mode < kModes; ++mode) {
    // The bars are the product's, so they judge its default mode; `slab` stands beside it.
    const bool judged = mode + 1 == kModes;
    absl::StrAppendFormat(&text, "%s against %s\n", kModeNames[mode], kModeNames[0]);
    for (const Verdict& v : Verdicts(measured, mode)) {
      absl::StrAppendFormat(&text, "  %-38s %12.6g -> %-12.6g %11s", v.what, v.before, v.after,
                            Percent(v.change));
      if (judged) {
        absl::StrAppendFormat(&text, "   bar %+.1f %%: %s", v.bar * 100,
                              v.reached() ? "reached" : "not reached");
      }
      absl::StrAppend(&text, "\n");
    }
    absl::StrAppendFormat(&text, "  %-38s %12.0f -> %-12.0f %11s\n\n", "pairs a second",
                          measured.modes[0].pairs_per_second(),
                          measured.modes[mode].pairs_per_second(),
                          Percent(Change(measured.modes[0].pairs_per_second(),
                                         measured.modes[mode].pairs_per_second())));
  }
  return text;
}

nlohmann::json CompareJson(const Case& measured) {
  nlohmann::json json = {{"title", measured.title}};
  for (size_t mode = 0; mode < kModes; ++mode) {
    const ModeFigures& figures = measured.modes[mode];
    nlohmann::json& one = json["modes"][kModeNames[mode]];
    one = {{"pairs", figures.pairs},
           {"wall_s", figures.wall_s},
           {"pairs_per_second", figures.pairs_per_second()},
           {"cpu_s", figures.cpu_s},
           {"cpu_us_per_pair", figures.cpu_us_per_pair()},
           {"sum", LockJson(SumOf(figures.locks))}};
    one["locks"] = nlohmann::json::array();
    for (const LockFigures& lock : figures.locks) one["locks"].push_back(LockJson(lock));
    if (mode == 0) continue;
    for (const Verdict& v : Verdicts(measured, mode)) {
      nlohmann::json row = {{"what", v.what}, {"before", v.before}, {"after", v.after}};
      row["change"] = v.change.has_value() ? nlohmann::json(*v.change) : nlohmann::json();
      if (mode + 1 == kModes) {
        row["bar"] = v.bar;
        row["reached"] = v.reached();
      }
      one["against_per_object"].push_back(std::move(row));
    }
  }
  return json;
}

}  // namespace tcact::load
