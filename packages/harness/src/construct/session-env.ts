/** Environment variables that name the session to its commands. Pure. */
import type { AgentSession } from "../agent-session/agent-session.ts";

/** pi's names are there too, because scripts know them. */
const prefixes = ["TAU", "PI"];

/** Returns the current variables. One without a value is undefined, so that a command does not get that of an outer session. */
export function getSessionEnv({
  sessionId,
  sessionFile,
  model,
  thinkingLevel,
}: Pick<AgentSession, "sessionId" | "sessionFile" | "model" | "thinkingLevel">): Record<string, string | undefined> {
  const values = {
    SESSION_ID: sessionId,
    SESSION_FILE: sessionFile,
    PROVIDER: model?.provider,
    MODEL: model?.id,
    REASONING_LEVEL: model && thinkingLevel,
  };
  const entries = Object.entries(values);
  const named = prefixes.flatMap((prefix) => entries.map(([name, value]) => [`${prefix}_${name}`, value] as const));
  return { ...Object.fromEntries(named), AI_AGENT: "tau", PI_CODING_AGENT: "true" };
}
