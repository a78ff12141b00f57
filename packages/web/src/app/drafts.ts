/** Keeps the draft of each session, as long as the page is open. */
import type { GatewayClient } from "@tau/protocol/client";
import { Draft } from "./draft.ts";

const drafts = new WeakMap<GatewayClient, Map<string, Draft>>();

/** Returns the same object for the same session, so that what was written is there again when the session is shown again. */
export function getDraft(client: GatewayClient, sessionId: string): Draft {
  const bySession = drafts.get(client) ?? new Map<string, Draft>();
  drafts.set(client, bySession);
  const draft = bySession.get(sessionId) ?? new Draft();
  bySession.set(sessionId, draft);
  return draft;
}

/** Messages that the gateway has not confirmed. */
export const hasUnsent = (client: GatewayClient): boolean =>
  [...(drafts.get(client)?.values() ?? [])].some(({ outgoing }) => outgoing.length > 0);
