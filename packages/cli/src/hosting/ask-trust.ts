import { systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { HarnessError, type TrustData, type TrustDifference } from "@tau/protocol";
import { isAboutTextsOnly, readTrust, writeTrust } from "@tau/config/trust";
import { ask, askAtStart, askKey } from "../process/ask.ts";
import type { Io } from "../commands/command.ts";

interface TrustQuestion {
  cwd: string;
  agentDir: string;
  /** The files that have no effect without trust. */
  waiting: readonly string[];
}

/** Asks whether the project is trusted, and stores a yes together with the state of its files. */
export async function askTrust(io: Io, { cwd, agentDir, waiting }: TrustQuestion): Promise<boolean> {
  const options = { cwd, agentDir, ids: systemIds };
  const refuse = (error: unknown) => {
    io.err(`tau: ${getErrorMessage(error)} So the project cannot be trusted.\n`);
  };
  // Too many files, or files that cannot be read: nobody could look at them, and the run continues without trust.
  const trust = await readTrust(options).catch(refuse);
  if (!trust) return false;
  const answer = await askAtStart(io, () =>
    trust.difference && isAboutTextsOnly(trust.difference)
      ? askKey(io, formatTextsQuestion(trust.difference))
      : askInFull(io, trust, waiting),
  );
  if (answer === undefined) throw new HarnessError("aborted", "Interrupted.");
  if (!answer) return false;
  return (await writeTrust(options, true, trust.digest).catch(refuse))?.trusted ?? false;
}

/** Undefined without an answer. */
async function askInFull(
  io: Io,
  { path, files, changed, difference }: TrustData,
  waiting: readonly string[],
): Promise<boolean | undefined> {
  const list = (names: readonly string[]) => names.map((name) => `  ${JSON.stringify(name)}\n`).join("");
  const before = changed ? "Its files have changed since you trusted it. " : "";
  io.err(`${path} is a project that you do not trust. ${before}Without trust this has no effect:\n${list(waiting)}`);
  if (difference) io.err(`Since you trusted it:\n${formatDifference(difference)}`);
  io.err(`Trusting it could execute commands or change where data is sent. Look at these files first:\n${list(files)}`);
  const answer = await ask(io, "Trust it, until one of these files changes? [y/N] ");
  return answer === undefined ? undefined : /^y(es)?$/i.test(answer.trim());
}

/** Asks in one line, whatever has changed: texts do nothing before somebody uses them. */
function formatTextsQuestion({ added, changed, removed }: TrustDifference): string {
  const [first, ...others] = [...changed, ...added, ...removed];
  const names = `${JSON.stringify(first)}${others.length === 0 ? "" : ` and ${others.length} more`}`;
  return `Changed since you trusted this project: ${names}. Trust it as it is now? [y/n] `;
}

/** Formats a line for each file. */
const formatDifference = (difference: TrustDifference): string =>
  (["added", "changed", "removed"] as const)
    .flatMap((kind) => difference[kind].map((name) => `  ${kind} ${JSON.stringify(name)}\n`))
    .join("");
