#ifndef TAU_MOUNTS_H
#define TAU_MOUNTS_H

/* What the harness asks for while the sandbox runs; holds for commands that are started afterwards. */
enum mount_kind {
  mount_read_only = 'r', /* the path can be read only, and not be renamed */
  mount_point = 'w',     /* the path can be changed, but not be renamed */
  mount_hide_file = 'f', /* the path is an empty file */
  mount_hide_directory = 'd',
  mount_fixed = 'n', /* names that are created in the directory later do not appear */
};

/* Keeps our mounts to ourselves, and those of commands to them. Returns 0 or an error number, like all of these. */
int mounts_separate(void);
int mounts_apply(int kind, const char *path);
/* For a new pid namespace: its own /proc, in which nothing that belongs to the whole machine can be changed. */
int mounts_fresh_proc(void);

#endif
