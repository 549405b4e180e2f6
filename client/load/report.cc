// The report of a run, as text and as JSON.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/load/run.h"

namespace tcact::load {
namespace {

constexpr double kPercents[] = {50, 90, 99, 99.9};
constexpr int kBarWidth = 40;

double Micros(uint64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string Time(uint64_t ns) {
  if (ns < 1000) return absl::StrFormat("%d ns", ns);
  if (ns < 1000000) return absl::StrFormat("%.1f us", Micros(ns));
  if (ns < 1000000000) return absl::StrFormat("%.2f ms", Micros(ns) / 1e3);
  return absl::StrFormat("%.2f s", Micros(ns) / 1e6);
}

// CPU microseconds for each operation.
double PerOperation(double cpu_s, const RunResult& result) {
  return result.operations == 0 ? 0 : cpu_s * 1e6 / static_cast<double>(result.operations);
}

std::string Head(const RunResult& result) {
  const RunOptions& o = result.options;
  std::string text = absl::StrFormat(
      "%s, %s, %d operations a message, %d connection%s with %d in flight, %d thread%s, %s\n",
      ScenarioName(o.scenario), o.scenario == Scenario::kDump ? "dump" : ModeName(o.mode),
      o.ops_per_message, o.connections, o.connections == 1 ? "" : "s", InFlight(o), o.threads,
      o.threads == 1 ? "" : "s",
      o.rate > 0 ? absl::StrFormat("open loop at %.0f operations a second", o.rate)
                 : "closed loop");
  absl::StrAppendFormat(&text, "server %s", o.server);
  if (!result.server_version.empty()) {
    absl::StrAppendFormat(&text, " (%s, %s)", result.server_version, result.action_alloc);
  }
  absl::StrAppendFormat(&text, ", namespace \"%s\", kind %s\n\n", o.netns, o.kind);
  return text;
}

std::string Rates(const RunResult& result) {
  std::string text = absl::StrFormat(
      "  operations   %d in %.1f s, %.0f a second\n  messages     %d, %.0f a second\n",
      result.operations, result.seconds, result.rate(), result.messages,
      static_cast<double>(result.messages) / result.seconds);
  absl::StrAppendFormat(&text, "  client CPU   %.2f s, %.3f us an operation\n", result.client_cpu_s,
                        PerOperation(result.client_cpu_s, result));
  if (result.server_cpu_s.has_value()) {
    absl::StrAppendFormat(&text, "  server CPU   %.2f s, %.3f us an operation\n",
                          *result.server_cpu_s, PerOperation(*result.server_cpu_s, result));
  }
  return text;
}

std::string Latencies(const RunResult& result) {
  const Histogram& latency = result.tally.latency_ns;
  std::string text = absl::StrFormat("\nLatency of a message%s\n",
                                     result.options.rate > 0 ? ", from the moment it was due" : "");
  absl::StrAppendFormat(&text, "  mean  %10s\n", Time(static_cast<uint64_t>(latency.mean())));
  for (double percent : kPercents) {
    absl::StrAppendFormat(&text, "  p%-5g%10s\n", percent, Time(latency.Percentile(percent)));
  }
  absl::StrAppendFormat(&text, "  max   %10s\n", Time(latency.max()));
  return text;
}

// Rows that double, from the one with the smallest value to the one with the largest.
std::string Bars(const Histogram& latency) {
  if (latency.count() == 0) return "";
  std::string text = "\n";
  uint64_t low = 1000;
  while (low * 2 <= latency.min()) low *= 2;
  uint64_t most = 1;
  for (uint64_t at = low; at <= latency.max(); at *= 2) {
    most = std::max(most, latency.CountBetween(at == 1000 ? 0 : at, at * 2));
  }
  for (uint64_t at = low; at <= latency.max(); at *= 2) {
    const uint64_t count = latency.CountBetween(at == 1000 ? 0 : at, at * 2);
    const auto width = static_cast<size_t>(count * kBarWidth / most);
    absl::StrAppendFormat(&text, "  < %9s %10d %s\n", Time(at * 2), count,
                          std::string(std::max<size_t>(width, count > 0 ? 1 : 0), '#'));
    if (at > UINT64_MAX / 4) break;
  }
  return text;
}

std::string Seconds(const RunResult& result) {
  std::string text = "\n  second  operations   messages  errors  slowest\n";
  constexpr size_t kRows = 30;
  const auto& seconds = result.tally.seconds;
  for (size_t i = 0; i < std::min(seconds.size(), kRows); ++i) {
    absl::StrAppendFormat(&text, "  %6d %11d %10d %7d  %s\n", i + 1, seconds[i].operations,
                          seconds[i].messages, seconds[i].errors, Time(seconds[i].max_latency_ns));
  }
  if (seconds.size() > kRows) {
    absl::StrAppendFormat(&text, "  … %d more: --json has them\n", seconds.size() - kRows);
  }
  return text;
}

std::string Errors(const RunResult& result) {
  std::string text;
  if (!result.tally.errors.empty()) {
    absl::StrAppend(&text, "\nErrors\n       count  code                 reason\n");
  }
  for (const auto& [key, error] : result.tally.errors) {
    absl::StrAppendFormat(&text, "  %10d  %-19s  %s: %s\n", error.count,
                          absl::StatusCodeToString(key.first),
                          key.second.empty() ? "-" : key.second, error.example);
  }
  if (result.tally.unfinished > 0) {
    absl::StrAppendFormat(&text, "\n%d messages were not answered within %s of the end\n",
                          result.tally.unfinished, absl::FormatDuration(result.options.drain));
  }
  if (result.tally.never_sent > 0) {
    absl::StrAppendFormat(&text,
                          "\nabout %d messages that were due were never sent: the server (or this "
                          "client) did not keep up with --rate\n",
                          result.tally.never_sent);
  }
  for (const std::string& warning : result.warnings) {
    absl::StrAppendFormat(&text, "\nwarning: %s\n", warning);
  }
  return text;
}

nlohmann::json OptionsJson(const RunOptions& o) {
  return {{"scenario", std::string(ScenarioName(o.scenario))},
          {"mode", std::string(ModeName(o.mode))},
          {"ops_per_message", o.ops_per_message},
          {"connections", o.connections},
          {"in_flight", InFlight(o)},
          {"threads", o.threads},
          {"actions", o.actions},
          {"duration_s", absl::ToDoubleSeconds(o.duration)},
          {"warmup_s", absl::ToDoubleSeconds(o.warmup)},
          {"rate", o.rate},
          {"netns", o.netns},
          {"kind", o.kind},
          {"server", o.server},
          {"seed", o.seed}};
}

nlohmann::json LatencyJson(const Histogram& latency) {
  nlohmann::json json = {{"count", latency.count()},
                         {"mean", latency.mean() / 1e3},
                         {"min", Micros(latency.min())},
                         {"max", Micros(latency.max())}};
  for (double percent : kPercents) {
    json[absl::StrCat("p", percent)] = Micros(latency.Percentile(percent));
  }
  return json;
}

}  // namespace

std::string ReportText(const RunResult& result) {
  return absl::StrCat(Head(result), Rates(result), Latencies(result), Bars(result.tally.latency_ns),
                      Seconds(result), Errors(result));
}

nlohmann::json ReportJson(const RunResult& result) {
  nlohmann::json json = {
      {"options", OptionsJson(result.options)},
      {"server", {{"version", result.server_version}, {"action_alloc", result.action_alloc}}},
      {"seconds", result.seconds},
      {"operations", result.operations},
      {"operations_per_second", result.rate()},
      {"messages", result.messages},
      {"client_cpu_s", result.client_cpu_s},
      {"client_cpu_us_per_operation", PerOperation(result.client_cpu_s, result)},
      {"latency_us", LatencyJson(result.tally.latency_ns)},
      {"unfinished", result.tally.unfinished},
      {"never_sent", result.tally.never_sent},
      {"unexpected_errors", UnexpectedErrors(result)},
      {"warnings", result.warnings}};
  if (result.server_cpu_s.has_value()) {
    json["server_cpu_s"] = *result.server_cpu_s;
    json["server_cpu_us_per_operation"] = PerOperation(*result.server_cpu_s, result);
  }
  json["series"] = nlohmann::json::array();
  for (const Second& second : result.tally.seconds) {
    json["series"].push_back({{"operations", second.operations},
                              {"messages", second.messages},
                              {"errors", second.errors},
                              {"max_latency_us", Micros(second.max_latency_ns)}});
  }
  json["errors"] = nlohmann::json::array();
  for (const auto& [key, error] : result.tally.errors) {
    json["errors"].push_back({{"code", absl::StatusCodeToString(key.first)},
                              {"reason", key.second},
                              {"count", error.count},
                              {"example", error.example}});
  }
  return json;
}

}  // namespace tcact::load
