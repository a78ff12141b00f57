#define _GNU_SOURCE
#include "first-process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* How long what outlives its command may take to finish by itself. */
static const long linger_ns = 100 * 1000 * 1000;

static void close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
  for (int fd = (int)first; fd < 4096; fd++) close(fd);
}

static void run_command(struct outcome *outcome, char **argv, char **env, const int streams[3]) {
  sigset_t none;
  /* A session of its own would not stand back as ours does. */
  setpgid(0, 0);
  for (int fd = 0; fd < 3; fd++)
    if (dup2(streams[fd], fd) < 0) _exit(70);
  close_from(3);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  environ = env;
  execvp(argv[0], argv);
  outcome->kind = exit_not_started;
  outcome->value = (uint32_t)errno;
  _exit(127);
}

static long passed_ns(const struct timespec *since) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - since->tv_sec) * 1000000000L + (now.tv_nsec - since->tv_nsec);
}

/* Collects what has ended. Returns 0 when no process is left. */
static int collect(pid_t command, int *status, int *has_ended) {
  for (;;) {
    int one;
    pid_t pid = waitpid(-1, &one, WNOHANG);
    if (pid == command) {
      *status = one;
      *has_ended = 1;
    }
    if (pid == 0) return 1;
    if (pid < 0 && errno != EINTR) return 0;
  }
}

_Noreturn void first_process_run(struct outcome *outcome, char **argv, char **env, const int streams[3]) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, forward_signal);
  sigprocmask(SIG_BLOCK, &wanted, NULL);
  /* As fork does, but without the locks of the C library, which a thread of the helper may have held when we were made. */
  const pid_t command = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
  if (command < 0) {
    outcome->kind = exit_not_started;
    outcome->value = (uint32_t)errno;
    _exit(0);
  }
  if (command == 0) run_command(outcome, argv, env, streams);
  /* Else the output would end with us, and not with the last process that can write it. */
  close_from(0);
  int status = 0, has_ended = 0, was_asked = 0, has_others = 1;
  struct timespec ended;
  for (;;) {
    const int had_ended = has_ended;
    has_others = collect(command, &status, &has_ended);
    if (has_ended && !had_ended) clock_gettime(CLOCK_MONOTONIC, &ended);
    if (has_ended && (!has_others || was_asked)) break;
    siginfo_t info;
    int number;
    if (!has_ended) number = sigwaitinfo(&wanted, &info);
    else {
      const long left_ns = linger_ns - passed_ns(&ended);
      if (left_ns <= 0) break;
      number = sigtimedwait(&wanted, &info, &(struct timespec){0, left_ns});
    }
    /* Processes inside can signal us too, but only those outside have no pid here. */
    if (number == forward_signal && info.si_code == SI_QUEUE && info.si_pid == 0) {
      const int sent = info.si_value.sival_int;
      was_asked |= sent == SIGTERM;
      /* The command may not have its own group yet. */
      if (!has_ended && kill(-command, sent) < 0) kill(command, sent);
    }
  }
  if (outcome->kind != exit_not_started) {
    outcome->kind = WIFSIGNALED(status) ? exit_signal : exit_code;
    outcome->value = (uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  outcome->had_leftovers = has_others && !was_asked;
  _exit(0);
}
