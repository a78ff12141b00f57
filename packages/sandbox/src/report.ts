/** Reports what the sandbox did to a command that has failed. */
import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import type { CommandEnd, SandboxReport } from "@tau/tools";
import { describeEvidence, describeRemedy, listHosts } from "./describe-evidence.ts";
import { type FailedCommand, findEvidence, isEmpty } from "./evidence.ts";
import { findRealPath, unlessUnseen } from "./look.ts";
import type { SandboxMode } from "./settings.ts";

interface EndedCommand extends Omit<FailedCommand, "output"> {
  /** Undefined if it was not started. */
  readonly end: CommandEnd | undefined;
  readonly mode: SandboxMode;
  /** Whether nothing could be changed, which nobody can allow for a single command. */
  readonly isReadOnly: boolean;
}

/** `notices`: what is reported in any case. */
export function createReport(
  notices: readonly string[],
  { end, mode, isReadOnly, ...command }: EndedCommand,
): SandboxReport {
  if (!end?.hasFailed) return { notices };
  const evidence = findEvidence({ ...command, output: end.output });
  if (isEmpty(evidence)) return { notices };
  if (isReadOnly) return { notices: [...notices, `[${readOnlyNotice}]`] };
  const hosts = listHosts(evidence);
  const paths = [...new Set(evidence.outside.flatMap((path) => findGrantable(path) ?? []))];
  const reason = describeEvidence(evidence).join(" ");
  const all = [...notices, `[${reason} ${describeRemedy(hosts, paths)}]`];
  const isAsked =
    paths.length + evidence.protected.length > 0 || (hosts.length > 0 && isAboutNetwork(end.output, hosts));
  return isAsked
    ? { notices: all, refused: { reason, hosts, paths, mayLeave: mode !== "required" } }
    : { notices: all };
}

const readOnlyNotice =
  "Commands can change nothing now but temporary files, and have no network: do not try it in another way.";

/** Programs print at least one of these when they do not reach a host. pip only says that it found nothing. */
const networkWords =
  /\b(?:no matching distribution|40[37]|proxy|tunnel|network|connect(?:ion|ing)?|fetch(?:ing)?|resolve|download(?:ing)?|timed? ?out)\b/i;

/** Whether a command failed because of a host: many ask for one besides, and fail for another reason. */
const isAboutNetwork = (output: string, hosts: readonly string[]): boolean =>
  output.trim() === "" || networkWords.test(output) || hosts.some((host) => output.includes(host.replace(/:\d+$/, "")));

/**
 * Only what exists can be opened: the path itself, or the nearest directory above it. Never everything, and nothing that
 * the user could not change outside of the sandbox either.
 */
function findGrantable(path: string): string | undefined {
  const real = findRealPath(path);
  if (real !== undefined) return real === "/" || !isWritable(real) ? undefined : real;
  return path === dirname(path) ? undefined : findGrantable(dirname(path));
}

const isWritable = (path: string): boolean =>
  unlessUnseen(() => (accessSync(path, constants.W_OK), true)) !== undefined;
