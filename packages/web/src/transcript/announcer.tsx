/** Tells a screen reader what has arrived: whole answers, not every piece of them. */
import { useEffect, useState } from "preact/hooks";
import type { RemoteSession } from "@tau/protocol/client";

const maxLength = 2_000;

export function Announcer({ session }: { session: RemoteSession }) {
  const [text, setText] = useState("");
  useEffect(
    () =>
      session.onEvent((event) => {
        if (event.type === "approval_requested") setText(`A question: ${event.approval.summary}`);
        if (event.type === "error") setText(event.message);
        if (event.type !== "entry_appended" || event.entry.type !== "message") return;
        const { message } = event.entry;
        if (message.role !== "assistant") return;
        const words = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
        if (words.trim() !== "") setText(words.slice(0, maxLength));
      }),
    [session],
  );
  return (
    <div class="only-heard" aria-live="polite" data-testid="announcer">
      {text}
    </div>
  );
}
