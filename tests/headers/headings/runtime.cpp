// "## Starting (<weft/runtime.hpp>)"
#include <weft/runtime.hpp>

int starting() {
  weft::options options{.max_procs = 2, .stack_size = 1 << 16, .max_threads = 100};
  int code = weft::run([] { weft::go([] {}); });
  code += weft::run(options, [] { return 3; });
  const weft::runtime rt{options};
  try {
    weft::spawn([] {}).join();
  } catch (const weft::not_running&) {
    return 1;
  }
  const unsigned before = weft::max_procs(weft::max_procs());
  const weft::runtime_stats stats = weft::stats();
  return code + static_cast<int>(before + weft::num_cpu() + weft::num_goroutines() + stats.threads);
}

weft::fatal_hook hooked() { return weft::on_fatal(nullptr); }
