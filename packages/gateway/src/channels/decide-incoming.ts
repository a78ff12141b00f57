/** Decides what happens to a message of a channel before anything of it is read. Pure. */
import type { IncomingMessage } from "@tau/extensions";

/** When an agent answers in a conversation with more than two members. */
const groupModes = ["mention", "always", "never"] as const;
export type GroupMode = (typeof groupModes)[number];

type IncomingStep =
  | { readonly kind: "answer" }
  /** A stranger in a direct conversation gets a code, and nothing else. */
  | { readonly kind: "offer_code" }
  | { readonly kind: "ignore"; readonly reason: string };

interface IncomingFacts {
  readonly message: Pick<IncomingMessage, "peer" | "isMentioned" | "text" | "loadFiles">;
  readonly isPaired: boolean;
  readonly groups: GroupMode;
}

export function decideIncoming({ message, isPaired, groups }: IncomingFacts): IncomingStep {
  if (message.peer.kind === "direct") {
    if (!isPaired) return { kind: "offer_code" };
    // A sticker, or what the platform itself reports. In a group, to be named alone is a message.
    const isEmpty = message.text.trim() === "" && !message.loadFiles;
    return isEmpty ? { kind: "ignore", reason: "it has neither text nor files" } : { kind: "answer" };
  }
  if (groups === "never") return { kind: "ignore", reason: "the account does not answer in groups" };
  if (groups === "mention" && !message.isMentioned)
    return { kind: "ignore", reason: "it does not mention the account" };
  // A code in a group would be for everybody to see.
  if (!isPaired) return { kind: "ignore", reason: "its sender is not paired" };
  return { kind: "answer" };
}
