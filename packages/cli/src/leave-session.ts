import type { Host } from "@tau/harness/host";

/** Closes a session, because another one of the same host is shown instead. Its extensions are told why. */
export async function leaveSession(host: Host, sessionId: string, nextId: string): Promise<void> {
  const { extensions, sessionFile } = host.get(nextId).session;
  const reason = extensions?.startReason ?? "resume";
  const target = sessionFile === undefined ? {} : { targetSessionFile: sessionFile };
  await host.close(sessionId, { reason: reason === "startup" ? "resume" : reason, ...target });
}
