/** Finds the class of a command line among the ten of `dangerous-class.ts`. Pure. */
import { type ExecClass, type ExecFinding, findWorst } from "./classification.ts";
import type { DangerousCommandClass } from "./dangerous-class.ts";

/** Null where none of the ten names fits. */
const byClass: Record<ExecClass, DangerousCommandClass | null> = {
  recursive_delete: "recursive_delete",
  device_write: "device_write",
  disk_wipe: "disk_wipe",
  fork_bomb: "fork_bomb",
  pipe_to_shell: "pipe_to_shell",
  shutdown: "system_shutdown",
  privilege_escalation: "permission_escalation",
  process_kill: "process_termination",
  credential_change: "credential_file_modification",
  reverse_shell: "reverse_shell",
  exfiltration: null,
  persistence: null,
  opaque_exec: null,
};

const toDangerousClass = (finding: ExecFinding) => finding.dangerousCommandClass ?? byClass[finding.class];

/** The class of the most dangerous finding that has one of the ten names; else that of a harmless use of such a command. */
export function findDangerousClass(
  findings: readonly ExecFinding[],
  harmlessUse: DangerousCommandClass | undefined,
): DangerousCommandClass | null {
  const worst = findWorst(findings.filter((finding) => toDangerousClass(finding) !== null));
  return worst ? toDangerousClass(worst) : (harmlessUse ?? null);
}
