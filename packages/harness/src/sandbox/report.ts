/** What the sandbox reports of a command that has failed. */
import { dirname } from "node:path";
import type { CommandEnd, SandboxReport } from "@tau/tools";
import { describeEvidence, describeRemedy, listHosts } from "./describe-evidence.ts";
import { type FailedCommand, findEvidence, isEmpty } from "./evidence.ts";
import { findRealPath } from "./look.ts";

/** `notices`: what is told in any case. */
export function createReport(
  notices: readonly string[],
  end: CommandEnd | undefined,
  command: Omit<FailedCommand, "output">,
): SandboxReport {
  if (!end?.hasFailed) return { notices };
  const evidence = findEvidence({ ...command, output: end.output });
  if (isEmpty(evidence)) return { notices };
  const hosts = listHosts(evidence);
  const paths = [...new Set(evidence.outside.flatMap((path) => findGrantable(path) ?? []))];
  const reason = describeEvidence(evidence).join(" ");
  return {
    notices: [...notices, `[${reason} ${describeRemedy(hosts, paths)}]`],
    refused: { reason, hosts, paths },
  };
}

/** Only what exists can be opened: the path itself, or the nearest directory above it. Never everything. */
function findGrantable(path: string): string | undefined {
  const real = findRealPath(path);
  if (real !== undefined) return real === "/" ? undefined : real;
  return path === dirname(path) ? undefined : findGrantable(dirname(path));
}
