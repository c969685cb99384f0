// unloader.cpp: a program that knows nothing of weft, loads a plugin that does, lets it run goroutines and closes it. What weft
// has left behind in the process must still be there then: handlers of signals and of fork.
//
//   <program> <plugin.so> [segv]     segv: dies of a fault at the end
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace {

bool load_run_and_close(const char* path) {
  void* const plugin = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return false;
  }
  const auto run = reinterpret_cast<int (*)(int)>(::dlsym(plugin, "plugin_run"));
  bool is_well = run != nullptr;
  // On a thread that has ended by then: what is to be destroyed at the end of one that has not would keep the plugin loaded.
  std::thread([&] { is_well = is_well && run(20) == 20; }).join();
  return ::dlclose(plugin) == 0 && is_well;
}

// The handlers of a fork run in the child.
bool fork_works() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(7);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  bool is_well = true;
  for (int round = 0; round < 2; ++round) {
    is_well &= load_run_and_close(argv[1]);
    ::raise(SIGURG);
    is_well &= fork_works();
  }
  std::puts(is_well ? "ok" : "wrong");
  std::fflush(stdout);
  if (argc > 2) *static_cast<volatile int*>(nullptr) = 1;
  return is_well ? 0 : 1;
}
