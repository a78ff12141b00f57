/** Asks a person about a command that the sandbox stopped, and runs it again as they say. */
import { type JudgeParts, createPortPolicy, type SandboxRetry } from "@tau/policy/internal";
import type { ToolSandbox } from "@tau/extensions/internal";
import type { SessionSandbox } from "@tau/sandbox";

interface ToolSandboxParts {
  getParts: () => JudgeParts;
  listHosts: () => Promise<string[]>;
  /** Whether nobody is asked, since nobody can allow more than the sandbox does. */
  isTenant: boolean;
}

/** `getParts` is called for each question: who answers may change. */
export function createToolSandbox(
  sandbox: SessionSandbox,
  { getParts, listHosts, isTenant }: ToolSandboxParts,
): ToolSandbox {
  sandbox.usePortPolicy(createPortPolicy(getParts));
  let opened: Promise<unknown> | undefined;
  /** Before the first command: the hosts that the user allowed in this project. */
  const openRemembered = async () => {
    const hosts = await listHosts();
    if (hosts.length > 0) await sandbox.widen({ hosts, paths: [], term: "session" });
  };
  return {
    async enter(request) {
      await (opened ??= openRemembered());
      return await sandbox.enter(request);
    },
    async askNextTry({ tool, ...call }, signal) {
      if (isTenant) return { kind: "denied" };
      // Loaded late: few commands are stopped.
      const { askToRetry } = await import("@tau/policy/internal");
      const answer = await askToRetry(getParts(), { ...call, tool, name: tool.name }, signal);
      if (answer.kind === "denied") return answer;
      const { retry, message } = answer;
      const note = message === undefined ? describe(retry) : `${describe(retry)} The user says: ${message}`;
      return { kind: "again", sandbox: retry.kind === "outside" ? undefined : await sandbox.widen(retry), note };
    },
  };
}

function describe(retry: SandboxRetry): string {
  if (retry.kind === "outside") return "The user allowed it, so the command was run again outside of the sandbox.";
  const { hosts, paths, term } = retry;
  const what = hosts.length > 0 ? `with network access to ${hosts.join(", ")}` : `with ${paths.join(", ")} writable`;
  return `The user allowed it, so the command was run again ${what}${term === "session" ? "; this holds for later commands too" : ""}.`;
}
