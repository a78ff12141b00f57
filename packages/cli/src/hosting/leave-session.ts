import type { AgentSession } from "@tau/harness";
import type { Host } from "@tau/harness/host";

/** Closes a session, because another one is shown instead. Its extensions get the reason. */
export async function leaveSession(host: Host, sessionId: string, next: AgentSession): Promise<void> {
  const { extensions, sessionFile } = next;
  const reason = extensions?.startReason ?? "resume";
  const target = sessionFile === undefined ? {} : { targetSessionFile: sessionFile };
  await host.close(sessionId, { reason: reason === "startup" ? "resume" : reason, ...target });
}
