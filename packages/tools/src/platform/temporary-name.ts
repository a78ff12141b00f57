/** The names of temporary files. They tell which process writes, so that files of a killed process can be found. Pure. */
import type { ProcessMark } from "./process-mark.ts";

export const nameTemporary = (mark: Required<ProcessMark>, id: string): string =>
  `.tau-${[mark.pid, mark.startTime, toNumber(mark), shortened(mark.bootId)].join(".")}-${id}.tmp`;

const shape = /^\.tau-(\d+)\.(\d*)\.(\d*)\.(\w*)-.+\.tmp$/;

/**
 * The process that writes, or wrote, a temporary file. Undefined for other files, and for those of another boot: that may
 * be another machine, on which the process still runs.
 */
export function getWriter(name: string, ours: Required<ProcessMark>): ProcessMark | undefined {
  const mark = parseMark(name, ours);
  return mark?.bootId === ours.bootId ? mark : undefined;
}

/** The process that a name tells; undefined for other files. */
export function parseMark(name: string, ours: Required<ProcessMark>): ProcessMark | undefined {
  const [, pid, startTime = "", namespace, boot = ""] = shape.exec(name) ?? [];
  if (pid === undefined) return undefined;
  const pidNamespace = namespace ? `pid:[${namespace}]` : "";
  const bootId = boot === shortened(ours.bootId) ? ours.bootId : boot;
  return { pid: Number(pid), startTime, bootId, pidNamespace };
}

const toNumber = ({ pidNamespace }: ProcessMark) => /\d+/.exec(pidNamespace ?? "")?.[0] ?? "";
const shortened = (bootId: string) => bootId.replaceAll("-", "").slice(0, 12);
