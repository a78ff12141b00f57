/*
 * Directories in which names that are created later do not appear to commands that run by then, such as a home in which a
 * program stores a key. In their place is a file system in memory with what is there now, each name mounted by itself.
 */
#ifndef TAU_FIXED_DIRECTORIES_H
#define TAU_FIXED_DIRECTORIES_H

/*
 * Fixes a directory, by its real path. Called again, it shows what has changed since then, to commands that are started
 * afterwards. Returns 0 or an error number; E2BIG for a directory with too many names, which stays as it is.
 */
int fixed_directory_update(const char *path);

#endif
