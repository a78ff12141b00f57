/** Hands a message to the gateway. */
import type { RemoteSession } from "@tau/protocol/client";
import type { OutgoingMessage } from "../app/draft.ts";

/** `prompt`: begins a run; if one has begun meanwhile, it is said in between. */
export async function sendMessage(
  session: RemoteSession,
  kind: "prompt" | "steer" | "follow_up",
  { text, images }: Pick<OutgoingMessage, "text" | "images">,
): Promise<void> {
  const blocks = images.map(({ mimeType, data }) => ({ type: "image" as const, mimeType, data }));
  const message = { message: text, ...(blocks.length > 0 && { images: blocks }) };
  if (kind === "prompt") await session.call("prompt", { ...message, streamingBehavior: "steer" });
  else if (kind === "steer") await session.call("steer", message);
  else await session.call("follow_up", message);
}
