/** Announces to a screen reader what has arrived: whole answers, not every piece of them. */
import { useEffect, useState } from "preact/hooks";
import type { RemoteSession } from "@tau/protocol/client";
import { getAnswerText } from "@tau/protocol/surface";

const maxLength = 2_000;

export function Announcer({ session }: { session: RemoteSession }) {
  const [text, setText] = useState("");
  useEffect(
    () =>
      session.onEvent((event) => {
        if (event.type === "approval_requested") setText(`A question: ${event.approval.summary}`);
        if (event.type === "error") setText(event.message);
        if (event.type !== "entry_appended") return;
        const answer = getAnswerText(event.entry);
        if (answer.trim() !== "") setText(answer.slice(0, maxLength));
      }),
    [session],
  );
  return (
    <div class="only-heard" aria-live="polite" data-testid="announcer">
      {text}
    </div>
  );
}
