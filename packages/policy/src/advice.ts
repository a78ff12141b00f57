/** Advises a person about a call that was denied. The model gets the reason instead: it cannot change a setting. */
import { dirname } from "node:path";
import type { Files } from "@tau/tools";
import { toVisibleLine } from "./call-summary.ts";
import type { Decision, Target } from "./policy.ts";
import { formatRule } from "./remembered-rules.ts";

const maxCharacters = 5_000;

/** Says what the call wanted, and the flag or setting that allows it. Whole sentences in one line, safe to show. */
export async function adviseUser(decision: Decision, files: Pick<Files, "stat">): Promise<string> {
  const { toolName, request } = decision;
  const wanted = `${toolName} was not allowed to ${formatRule(request)}.`;
  return toVisibleLine(`${wanted} ${await getRemedy(decision, files)}`, maxCharacters);
}

async function getRemedy({ rule, by, reason = "", request }: Decision, files: Pick<Files, "stat">): Promise<string> {
  if (by === "timeout") return "Nobody answered in time. The setting approvals.timeoutMs says how long tau waits.";
  if (by !== undefined) return by === "person" ? "You said no." : reason;
  switch (rule) {
    case "outside": {
      const directory = await findDirectory(request.target, files);
      const ask = "answer the question of tau -p in a terminal";
      return directory === undefined || directory === dirname(directory)
        ? `It is outside the workspace. To allow it: ${ask}.`
        : `It is outside the workspace. To allow it: use --add-dir ${quote(directory)} or the setting additionalDirectories, or ${ask}.`;
    }
    case "agent-directory":
      return "It is tau's own configuration. To allow it: answer the question of tau -p in a terminal.";
    case "protected":
      return "Programs outside of the sandbox run or obey what is in it. To allow it: answer the question of tau -p in a terminal.";
    case "credential-file":
      return "It holds credentials, so no flag or setting allows it.";
    default:
      return reason;
  }
}

/** The path itself, or the directory that it is in. */
async function findDirectory(target: Target, files: Pick<Files, "stat">): Promise<string | undefined> {
  if (target.kind !== "path") return undefined;
  const stats = await files.stat(target.path).catch(() => undefined);
  return stats?.isDirectory() ? target.path : dirname(target.path);
}

/** For a shell. */
const quote = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
