/** Storing a key, or logging in with a provider's own login. What the user has to do comes as notices of the session. */
import type { AgentSession } from "../agent-session/agent-session.ts";
import { literalKey } from "../auth/key-value.ts";
import type { LoginEvent } from "../auth/login-interaction.ts";
import { HarnessError } from "../errors.ts";

export async function login(session: AgentSession, provider: string, apiKey: string | undefined) {
  const { authStorage } = session;
  if (apiKey !== undefined) {
    await authStorage.set(provider, { type: "api_key", key: literalKey(apiKey) });
    return { provider, kind: "api_key" as const };
  }
  const outcome = await authStorage.login(provider, {
    notify: (event) => session.notify("login", formatEvent(provider, event)),
  });
  if (outcome.kind === "done") return { provider, kind: "oauth" as const };
  throw new HarnessError("login_failed", outcome.failure.message);
}

function formatEvent(provider: string, event: LoginEvent): string {
  const start = `To log in to ${provider}, open`;
  if (event.type === "auth_url") return `${start} ${event.url}`;
  return `${start} ${event.completeUrl ?? event.verificationUrl} and enter the code ${event.userCode}.`;
}
