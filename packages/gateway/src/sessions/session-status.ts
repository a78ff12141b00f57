/** The status of a session in a list. */
import type { SessionInfo } from "@tau/harness/session";
import { toSessionSummary } from "@tau/harness/host";
import type { ListedSessionData, SessionStatus } from "@tau/protocol/gateway";
import { isAbandoned } from "@tau/tools/platform";
import type { OpenSession } from "./open-session.ts";

export const toListedSession = (info: SessionInfo, status: SessionStatus): ListedSessionData => ({
  ...toSessionSummary(info),
  sessionId: info.id,
  status,
});

export async function getSessionStatus(
  { path, ending }: Pick<SessionInfo, "path" | "ending">,
  open: OpenSession | undefined,
): Promise<SessionStatus> {
  if (open?.hosted.session.isStreaming) return "running";
  if (open?.describe().status === "waiting") return "waiting";
  if (ending === "cut") return "interrupted";
  if (open) return "idle";
  return ending === "unanswered" && (await isAbandoned(`${path}.lock`)) ? "interrupted" : "closed";
}
