#define _GNU_SOURCE
#include "mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fixed-directories.h"

/* Root can write to these by their permissions alone, also without any capability. */
static const char *const machine_wide[] = {
    "/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger", "/proc/acpi", "/proc/scsi",
};

static int failed(int result) { return result < 0 ? errno : 0; }

int mounts_separate(void) {
  if (unshare(CLONE_NEWNS) < 0) return errno;
  return failed(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

/* A bind mount starts with the flags of what it shows; those of an ordinary user must keep the locked ones. */
static unsigned long flags_of(const char *path) {
  struct statvfs status;
  unsigned long flags = MS_NOSUID | MS_NODEV;
  if (statvfs(path, &status) == 0) {
    if (status.f_flag & ST_NOEXEC) flags |= MS_NOEXEC;
    if (status.f_flag & ST_NOATIME) flags |= MS_NOATIME;
    if (status.f_flag & ST_NODIRATIME) flags |= MS_NODIRATIME;
    if (status.f_flag & ST_RELATIME) flags |= MS_RELATIME;
    if (status.f_flag & ST_RDONLY) flags |= MS_RDONLY;
  }
  return flags;
}

static int bind_self(const char *path, unsigned long more) {
  if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0) return errno;
  return failed(mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | flags_of(path) | more, NULL));
}

int mounts_apply(int kind, const char *path) {
  switch (kind) {
    case mount_read_only:
      return bind_self(path, MS_RDONLY);
    case mount_point:
      return bind_self(path, 0);
    case mount_hide_file:
      if (mount("/dev/null", path, NULL, MS_BIND, NULL) < 0) return errno;
      return failed(mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL));
    case mount_hide_directory:
      return failed(mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "mode=0555,size=4k"));
    case mount_fixed:
      return fixed_directory_update(path);
    default:
      return EINVAL;
  }
}

int mounts_fresh_proc(void) {
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) return errno;
  for (size_t index = 0; index < sizeof machine_wide / sizeof *machine_wide; index++) {
    /* Asking whether it could be written to does not help: the directory /proc/sys says no, and its files say yes. */
    if (access(machine_wide[index], F_OK) < 0) continue;
    int error = bind_self(machine_wide[index], MS_RDONLY | MS_NOEXEC);
    if (error) return error;
  }
  return 0;
}
