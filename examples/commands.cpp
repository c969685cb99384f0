// commands.cpp: runs several programs at once and keeps what they say in a file.
//
// Each is waited for by a goroutine, and neither a program nor the disk ever holds a processor of weft's.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <weft/io.hpp>
#include <weft/weft.hpp>

int main() {
  return weft::run([] {
    const std::vector<std::vector<std::string>> commands = {
        {"echo", "hello"}, {"sh", "-c", "sleep 0.02; echo later"}, {"sh", "-c", "exit 3"}};
    std::vector<weft::io::command_result> results(commands.size());
    weft::wait_group all;
    for (std::size_t i = 0; i < commands.size(); ++i)
      all.go([&, i] { results[i] = weft::io::run_command(commands[i]); });
    all.wait();

    char path[] = "/tmp/weft_commands_XXXXXX";
    const weft::io::file report(::mkstemp(path), path);
    for (const auto& r : results) report.write_all(r.status.message() + ": " + r.out + "\n");
    report.close();
    const std::string text = weft::io::read_file(path);
    std::fputs(text.c_str(), stdout);
    std::remove(path);

    // One that reads what we write, line by line.
    using weft::io::redirect;
    auto sort =
        weft::io::process::start({"sort"}, {.in = redirect::pipe(), .out = redirect::pipe()});
    for (const char* line : {"pear\n", "apple\n", "fig\n"}) sort.in().write_all(line);
    sort.in().close();
    std::string sorted(15, ' ');
    sort.out().read_full(sorted);
    std::fputs(sorted.c_str(), stdout);
    const bool is_well = text == "exit code 0: hello\n\nexit code 0: later\n\nexit code 3: \n" &&
                         sorted == "apple\nfig\npear\n" && sort.wait().success();
    return is_well ? 0 : 1;
  });
}
