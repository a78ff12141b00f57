/** What a session in a list is doing. */
import { access } from "node:fs/promises";
import type { SessionInfo } from "@tau/harness/session";
import type { SessionStatus } from "@tau/protocol/gateway";
import type { OpenSession } from "./open-session.ts";

export async function getSessionStatus(
  { path, ending }: Pick<SessionInfo, "path" | "ending">,
  open: OpenSession | undefined,
): Promise<SessionStatus> {
  if (open?.hosted.session.isStreaming) return "running";
  if (ending === "cut") return "interrupted";
  if (open) return "idle";
  // A process that ends removes its lock; one that is killed leaves it.
  return ending === "unanswered" && (await exists(`${path}.lock`)) ? "interrupted" : "closed";
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
