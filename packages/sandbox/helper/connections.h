/*
 * Decides to which sockets in the file system the processes of commands may connect. A read-only mount does not keep anybody
 * from connecting to a socket in it, and a filter of system calls cannot read a path. So the kernel hands us each
 * `connect`, and we do it in the place of the caller: the address is copied once and the socket is a duplicate of the
 * caller's, so that nothing can be exchanged between the check and the connection.
 */
#ifndef TAU_CONNECTIONS_H
#define TAU_CONNECTIONS_H

/* Sockets below this directory, by its real path, can be connected to. Before it is called, none can. */
void connections_allow(const char *directory);
/*
 * From now on, every `connect` of this thread, and of the processes that it starts, is done by threads of ours. Call it
 * before the first command. Returns 0 or an error number.
 */
int connections_guard(void);
/* Gives up connections that are waiting for a server, and whose caller has been ended. */
void connections_forget(void);
/* Whether the system offers what `connections_guard` needs. The caller cannot connect to anything afterwards. */
int connections_try(void);

#endif
