/** Small functions that look at what goes into an agent, and at what comes out of it. */
import { getErrorMessage } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";

/**
 * Returns why a text must not pass; undefined, or nothing, lets it pass. One that throws refuses. `signal` aborts when nobody waits for
 * the answer any more.
 */
type AgentGuard = (
  text: string,
  context: { signal: AbortSignal | undefined },
) => string | undefined | void | Promise<string | undefined | void>;

export interface AgentGuards {
  /** Called in order with each prompt before anything is sent or written. */
  input?: readonly AgentGuard[];
  /** Called in order with the text of each answer before it is returned. The log has it already. */
  output?: readonly AgentGuard[];
}

const subjects = { input: "The prompt", output: "The answer" } as const;

/** Throws `denied` with the reason of the first guard that refuses. */
export async function applyGuards(
  kind: keyof AgentGuards,
  guards: AgentGuards | undefined,
  { text, signal }: { text: string; signal: AbortSignal | undefined },
): Promise<void> {
  for (const guard of guards?.[kind] ?? []) {
    const reason = await ask(guard, text, signal);
    if (typeof reason === "string") throw new HarnessError("denied", `${subjects[kind]} was refused: ${reason}`);
  }
}

async function ask(
  guard: AgentGuard,
  text: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined | void> {
  try {
    return await guard(text, { signal });
  } catch (error) {
    return `a guard failed (${getErrorMessage(error)}).`;
  }
}
