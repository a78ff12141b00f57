#define _GNU_SOURCE
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "foreground.h"
#include "stand-back.h"

enum { buffer_size = 65536, header_size = 5, failed = 75 };

/* How long the terminal may be silent in all after the program's end until its output is taken to be complete. */
static const long long drain_us = 50000;

/* More than a terminal of Linux holds: what comes after it was printed after the program's end. */
static const size_t drain_limit = 1 << 20;

struct buffer {
  char bytes[buffer_size];
  size_t start, end;
};

/* What came from the harness, what waits for the program, and what waits for the harness. */
static struct buffer messages, input, output;

static size_t used(const struct buffer *buffer) { return buffer->end - buffer->start; }

static void compact(struct buffer *buffer) {
  memmove(buffer->bytes, buffer->bytes + buffer->start, used(buffer));
  buffer->end -= buffer->start;
  buffer->start = 0;
}

static uint32_t read_number(const char *bytes) {
  const unsigned char *byte = (const unsigned char *)bytes;
  return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

static void resize(int terminal, uint32_t columns, uint32_t rows) {
  const struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
  ioctl(terminal, TIOCSWINSZ, &size);
}

static void answer(int terminal, int was_written) {
  char text[4096];
  struct termios modes = {0};
  struct winsize size = {0};
  tcgetattr(terminal, &modes);
  ioctl(terminal, TIOCGWINSZ, &size);
  const int head = snprintf(text, 128, "S %d %d %d %d %d", (modes.c_lflag & ECHO) != 0, (modes.c_lflag & ICANON) != 0,
                            was_written, size.ws_col, size.ws_row);
  size_t length = (size_t)head + foreground_describe(terminal, text + head, sizeof text - 1 - (size_t)head);
  text[length++] = '\n';
  for (size_t sent = 0; sent < length;) {
    const ssize_t count = write(STDERR_FILENO, text + sent, length - sent);
    if (count < 0 && errno != EINTR) _exit(failed);
    if (count > 0) sent += (size_t)count;
  }
}

static int hides_input(int terminal) {
  struct termios modes;
  if (tcgetattr(terminal, &modes) < 0) return 1;
  return (modes.c_lflag & ICANON) && !(modes.c_lflag & ECHO);
}

static void add_input(const char *bytes, size_t size) {
  memcpy(input.bytes + input.end, bytes, size);
  input.end += size;
}

static void take_message(int terminal, char type, const char *body, size_t size) {
  int was_written = 0;
  switch (type) {
    case terminal_reply:
      if (used(&input) == 0) add_input(body, size);
      return;
    case terminal_resize:
      if (size != 8) _exit(70);
      resize(terminal, read_number(body), read_number(body + 4));
      break;
    case terminal_write:
      if (hides_input(terminal)) break;
      /* fall through */
    case terminal_keys:
      add_input(body, size);
      was_written = 1;
      break;
    case terminal_query:
      break;
    default:
      _exit(70);
  }
  answer(terminal, was_written);
}

static void take_messages(int terminal) {
  while (used(&messages) >= header_size) {
    const char *message = messages.bytes + messages.start;
    const uint32_t size = read_number(message + 1);
    if (size > buffer_size / 4) _exit(70);
    if (used(&messages) < header_size + size) break;
    compact(&input);
    /* The program does not read: its next message waits, but not a question. */
    if (message[0] != terminal_query && size > buffer_size - input.end) break;
    take_message(terminal, message[0], message + header_size, size);
    messages.start += header_size + size;
  }
  compact(&messages);
}

/* Returns 0 at the end, and where the other side is gone. */
static int receive(int fd, struct buffer *buffer) {
  const ssize_t count = read(fd, buffer->bytes + buffer->end, buffer_size - buffer->end);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  buffer->end += (size_t)count;
  return count > 0;
}

static int send_on(int fd, struct buffer *buffer) {
  const ssize_t count = write(fd, buffer->bytes + buffer->start, used(buffer));
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  buffer->start += (size_t)count;
  if (used(buffer) == 0) compact(buffer);
  return 1;
}

static void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

static void run_program(int terminal, char **argv, const sigset_t *mask) {
  prctl(PR_SET_DUMPABLE, 1);
  if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0) _exit(failed);
  /* In its new session, where the old one's does not count. */
  stand_back();
  for (int fd = 0; fd < 3; fd++)
    if (dup2(terminal, fd) < 0) _exit(failed);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(argv[0], argv);
  dprintf(STDERR_FILENO, "%s could not be started: %s\r\n", argv[0], strerror(errno));
  _exit(127);
}

static _Noreturn void give_up(const char *what) {
  dprintf(STDOUT_FILENO, "There is no terminal: %s failed (%s).\n", what, strerror(errno));
  _exit(failed);
}

static long long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* Sends what the program printed before its end. Others may open the terminal again and print on for ever. */
static void drain(int terminal) {
  size_t total = 0;
  for (long long silent_us = 0; silent_us < drain_us && total < drain_limit; total += used(&output)) {
    while (used(&output) > 0) {
      struct pollfd sink = {STDOUT_FILENO, POLLOUT, 0};
      if (poll(&sink, 1, -1) < 0 && errno != EINTR) return;
      if (!send_on(STDOUT_FILENO, &output)) return;
    }
    struct pollfd source = {terminal, POLLIN, 0};
    const long long asked_us = now_us();
    if (poll(&source, 1, (int)((drain_us - silent_us + 999) / 1000)) <= 0 || !receive(terminal, &output)) return;
    silent_us += now_us() - asked_us;
  }
}

static _Noreturn void end_as(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  signal(number, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
  raise(number);
  _exit(128 + number);
}

static void relay(int terminal, int children, pid_t program) {
  struct pollfd sources[4] = {{terminal, 0, 0}, {children, POLLIN, 0}, {STDIN_FILENO, 0, 0}, {STDOUT_FILENO, 0, 0}};
  for (;;) {
    take_messages(terminal);
    const int has_output = used(&output) > 0;
    sources[0].events = (short)((has_output ? 0 : POLLIN) | (used(&input) > 0 ? POLLOUT : 0));
    sources[2].events = messages.end < buffer_size ? POLLIN : 0;
    /* A negative descriptor is not polled: one without events would still report its end. */
    sources[3].fd = has_output ? STDOUT_FILENO : -1;
    sources[3].events = POLLOUT;
    if (poll(sources, 4, -1) < 0 && errno != EINTR) _exit(failed);
    if (sources[1].revents) {
      int status;
      struct signalfd_siginfo info;
      while (read(children, &info, sizeof info) > 0) continue;
      if (waitpid(program, &status, WNOHANG) == program) {
        drain(terminal);
        end_as(status);
      }
    }
    if (sources[2].revents && !receive(STDIN_FILENO, &messages)) _exit(0);
    if (sources[3].fd >= 0 && sources[3].revents && !send_on(STDOUT_FILENO, &output)) _exit(failed);
    if (sources[0].revents & POLLOUT) send_on(terminal, &input);
    if (sources[0].revents & POLLIN) receive(terminal, &output);
  }
}

_Noreturn void terminal_run(int columns, int rows, char **argv) {
  sigset_t wanted, before;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigprocmask(SIG_BLOCK, &wanted, &before);
  signal(SIGPIPE, SIG_DFL);
  const int children = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || unlockpt(terminal) < 0) give_up("posix_openpt");
  /* By its master: its name may lead elsewhere in another mount namespace. Kept open, so that a program may close it for a while. */
  const int other = ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (other < 0) give_up("TIOCGPTPEER");
  struct termios modes;
  if (tcgetattr(other, &modes) == 0) {
    modes.c_iflag |= IUTF8;
    tcsetattr(other, TCSANOW, &modes);
  }
  resize(terminal, (uint32_t)columns, (uint32_t)rows);
  /* The program must not answer for us, or read what others write to it. */
  prctl(PR_SET_DUMPABLE, 0);
  const pid_t program = fork();
  if (program < 0) give_up("fork");
  if (program == 0) run_program(other, argv, &before);
  set_nonblocking(terminal);
  set_nonblocking(STDOUT_FILENO);
  set_nonblocking(STDIN_FILENO);
  relay(terminal, children, program);
  _exit(0);
}
