/** Hostcalls of isolated extensions before the one judge of the session. */
import { createGuardedFiles, type Guard, ToolsError } from "@tau/tools";
import type { ExtensionPolicy, PathRules } from "@tau/policy";
import { getSecretFiles, Grants, createPathGuard, createJudge, type JudgeParts } from "@tau/policy/internal";
import { isNamedFor, isProjectSecret, projectSecretReason } from "@tau/sandbox/internal";
import type { HostcallJudge } from "./ports.ts";

/** `parts` are those of the session. What a person allows the extension for a session applies to nobody else. */
export function createHostcallJudge(
  parts: Omit<JudgeParts, "subject" | "grants">,
  { extension, pathRules, getPolicy }: { extension: string; pathRules: PathRules; getPolicy: () => ExtensionPolicy },
): HostcallJudge {
  const grants = new Grants();
  const ask = parts.ask && askForSession(parts.ask, extension);
  const judge = createJudge({ ...parts, ask, grants, subject: { kind: "extension", name: extension } });
  const createFiles = createGuardedFiles();
  const isPlanning = () => parts.getMode() === "plan";
  return {
    async judge({ id, method, args, access, summary }, signal) {
      const name = `${extension}: ${method}`;
      const tool = { name, access: () => access, summarise: () => summary };
      const call = { toolCall: { id, name }, args, context: { tools: [tool] } };
      const result = await judge(call as unknown as Parameters<typeof judge>[0], signal);
      return result?.block ? (result.reason ?? "It is not allowed.") : undefined;
    },
    createFiles: (id) =>
      createFiles(withoutSecrets(createPathGuard(pathRules, grants.forCall(id), isPlanning), extension, getPolicy)),
    endCall: (id) => grants.endCall(id),
  };
}

/** The policy has judged a path; a link may lead elsewhere by the time that the file is opened. */
const withoutSecrets =
  (guard: Guard, extension: string, getPolicy: () => ExtensionPolicy): Guard =>
  async (realPath, access, file) => {
    await guard(realPath, access, file);
    if (!isProjectSecret(realPath) || isNamedFor(realPath, getSecretFiles(getPolicy(), extension))) return;
    throw new ToolsError("denied", projectSecretReason(realPath));
  };

/** Asks only once about what a person allows an extension as a whole, such as to use the interface. */
const askForSession =
  (ask: NonNullable<JudgeParts["ask"]>, extension: string): NonNullable<JudgeParts["ask"]> =>
  async (question, signal) => {
    const answer = await ask(question, signal);
    const { target } = question.request;
    const isWhole = target.kind === "name" && target.name === extension;
    const isForCall = answer.decision === "allow" && (answer.choice ?? "once") === "once";
    return isWhole && isForCall ? { ...answer, choice: "session" } : answer;
  };
