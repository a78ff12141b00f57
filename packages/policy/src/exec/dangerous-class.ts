/** The ten classes of dangerous commands that extensions and other programs of the kind know commands by. */

export const dangerousCommandClasses = [
  "recursive_delete",
  "device_write",
  "fork_bomb",
  "pipe_to_shell",
  "system_shutdown",
  "permission_escalation",
  "process_termination",
  "credential_file_modification",
  "disk_wipe",
  "reverse_shell",
] as const;
export type DangerousCommandClass = (typeof dangerousCommandClasses)[number];
