// SPDX-License-Identifier: Apache-2.0
#include "loader/library_child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string_view>

#include "loader/hdf5_library.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr unsigned kLimitS = 600;

[[noreturn]] void answer_and_leave(int to, const std::function<std::string()>& work) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM}) std::signal(signal, SIG_DFL);
  ::alarm(kLimitS);
  const auto answer = work();
  std::string_view left = answer;
  while (!left.empty()) {
    const auto count = ::write(to, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) ::_exit(1);
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  ::_exit(0);
}

std::string read_to_end(int from) {
  std::string answer;
  std::string piece(1U << 16U, '\0');
  for (;;) {
    const auto count = ::read(from, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return answer;
    answer.append(piece, 0, static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<std::string> from_library_child(const std::function<std::string()>& work) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return fail(ErrorCode::io, "cannot make a pipe: {}", std::strerror(errno));
  pid_t child = -1;
  {
    // Nobody is inside the library at this moment, so the child finds it in a sane state; the child unlocks its copy.
    const std::lock_guard lock(hdf5_mutex());
    child = ::fork();
  }
  if (child == 0) {
    ::close(pipe[0]);
    answer_and_leave(pipe[1], work);
  }
  ::close(pipe[1]);
  std::string answer;
  if (child > 0) answer = read_to_end(pipe[0]);
  ::close(pipe[0]);
  if (child < 0) return fail(ErrorCode::io, "cannot start a process to read it: {}", std::strerror(errno));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return fail(ErrorCode::timeout, "reading its metadata did not end within {} s", kLimitS);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(ErrorCode::corrupt, "its metadata are damaged: the HDF5 library died reading them ({})",
                WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no answer");
  return answer;
}

}  // namespace ridgeline::loader
