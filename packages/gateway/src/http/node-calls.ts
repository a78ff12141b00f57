/** What nodes of a cluster ask of the one that runs a session, besides the methods that clients have. */
import type { MessageDraft } from "../inbox/session-inbox.ts";
import type { MethodContext } from "../methods/method.ts";
import { answerChat, type ChatCall, chatCallName } from "./answer-chat.ts";
import { acceptCallName } from "./accept-anywhere.ts";

/** `params` has the `sessionId`. They are those of a node, which is trusted. */
export type NodeCall = (context: MethodContext, params: Record<string, unknown>) => Promise<unknown>;

export const nodeCalls: Readonly<Record<string, NodeCall>> = {
  [chatCallName]: async ({ parts, client }, params) => {
    const gone = new AbortController();
    const stopWaiting = client.onClosed(() => gone.abort());
    try {
      return await answerChat(
        { parts, client, signal: gone.signal, tell: (step) => client.send(Buffer.from(JSON.stringify(step))) },
        params as unknown as ChatCall,
      );
    } finally {
      stopWaiting();
    }
  },
  [acceptCallName]: async ({ parts }, params) => await parts.inbox.accept(params as unknown as MessageDraft),
};
