#define _GNU_SOURCE
#include "privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int privileges_drop(uint64_t kept) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return errno;
  for (int capability = 0; capability < 64; capability++) {
    if (kept >> capability & 1) continue;
    /* The kernel knows fewer than 64, and refuses the first that it does not know. */
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) < 0) break;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) return errno;
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) < 0) return errno;
  for (int half = 0; half < 2; half++) {
    data[half].permitted &= (uint32_t)(kept >> (32 * half));
    data[half].effective = data[half].permitted;
    data[half].inheritable = 0;
  }
  return syscall(SYS_capset, &header, data) < 0 ? errno : 0;
}
