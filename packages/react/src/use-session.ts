/** A hook that follows a session of a gateway. */
import { type ApprovalAnswer, type Approval, type CommandParams, emptyView, type LiveView } from "@tau/protocol";
import type { RemoteSessionState } from "@tau/protocol/client";
import { useMemo, useSyncExternalStore } from "react";
import { createSessionStore, type SessionClient, type SessionStore } from "./session-store.ts";
import { toUIMessages, type UIMessage } from "./ui-messages.ts";

export type { SessionClient } from "./session-store.ts";

export interface SendOptions {
  images?: NonNullable<CommandParams<"prompt">["images"]>;
  /** When the model reads the message while a run is in progress: before its next request (default), or when it would stop. */
  queue?: "steer" | "followUp";
}

export interface UseSession {
  /** All that is shown, with the answer that is arriving. A message that did not change is the same object. */
  readonly messages: readonly UIMessage[];
  /** Shows what is happening now: the run, the calls that are running, what is queued, and how the last run ended. */
  readonly live: LiveView;
  /** The questions that are open, for clients with the ability `approvals`. */
  readonly approvals: readonly Approval[];
  /** Whether the session is followed. The rest is what was last known. */
  readonly connection: RemoteSessionState;
  /** Begins a run, or joins the one that is in progress. Resolves when the message is in the log. */
  readonly send: (text: string, options?: SendOptions) => Promise<void>;
  /** Answers a question. */
  readonly approve: (approvalId: string, answer: ApprovalAnswer) => Promise<void>;
  /** Ends the run. */
  readonly stop: () => Promise<void>;
}

/**
 * Follows a session while the component is mounted. The client stays yours: connect it before, and close it afterwards. Several
 * components may follow the same session. The functions are the same until the client or the id changes; on a server nothing is known.
 */
export function useSession(client: SessionClient, id: string): UseSession {
  const store = useMemo(() => createSessionStore(client, id, emptyView), [client, id]);
  const actions = useMemo(() => createActions(store), [store]);
  const { view, state } = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
  const messages = useMemo(() => toUIMessages(view), [view]);
  return { messages, live: view.live, approvals: view.live.approvals, connection: state, ...actions };
}

function createActions(store: SessionStore): Pick<UseSession, "send" | "approve" | "stop"> {
  const getSession = () => {
    const session = store.getSession();
    if (!session) throw new Error("useSession: the component is not mounted, so its session is not followed.");
    return session;
  };
  return {
    async send(text, { images, queue = "steer" } = {}) {
      const message = { message: text, streamingBehavior: queue };
      await getSession().call("prompt", { ...message, ...(images && { images }) });
    },
    async approve(approvalId, answer) {
      await getSession().call("approve", { approvalId, ...answer, resume: true });
    },
    async stop() {
      await getSession().call("abort", {}, { isLasting: false });
    },
  };
}
