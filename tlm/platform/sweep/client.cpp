#include "tlm/platform/sweep/client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace dvp::platform::sweep {

namespace {

constexpr int absent = 127;

struct channel {
  int read = -1, write = -1;
  channel() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
    read = ends[0];
    write = ends[1];
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() {
    close(read);
    close_write();
  }
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

// What comes from both until both are closed by the other side.
void drain(const channel& a, std::string& text_a, const channel& b, std::string& text_b) {
  std::array<pollfd, 2> files{{{a.read, POLLIN, 0}, {b.read, POLLIN, 0}}};
  std::array<std::string*, 2> texts{&text_a, &text_b};
  for (int open = 2; open != 0;) {
    if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      std::array<char, 4096> part{};
      const ssize_t length = read(files[i].fd, part.data(), part.size());
      if (length > 0) {
        texts[i]->append(part.data(), static_cast<std::size_t>(length));
      } else if (length == 0 || errno != EINTR) {
        files[i].fd = -1;
        --open;
      }
    }
  }
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\r\n ");
  if (end == std::string::npos) return {};
  const std::size_t before = text.find_last_of("\r\n", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

}  // namespace

client_answer ask_client(const std::vector<std::string>& command) {
  std::vector<std::string> copies = command;
  std::vector<char*> arguments;
  for (auto& argument : copies) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  channel output, complaints;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("no process can be started: ") + std::strerror(errno));
  if (child == 0) {
    dup2(output.write, STDOUT_FILENO);
    dup2(complaints.write, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(absent);
  }
  output.close_write();
  complaints.close_write();
  client_answer answer;
  std::string said;
  drain(output, answer.output, complaints, said);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  answer.complaint = last_line(said);
  return answer;
}

}  // namespace dvp::platform::sweep
