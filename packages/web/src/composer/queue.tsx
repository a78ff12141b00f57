/** Messages that wait for their turn. They can be changed and taken back. */
import { useState } from "preact/hooks";
import { getTypedContent, type QueuedSummary } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";
import { useAttempt } from "../app/attempt.ts";
import { FocusedText } from "../app/focused-field.tsx";
import { CloseIcon, EditIcon } from "../app/icons.tsx";
import { Name } from "../text/name.tsx";

interface QueueProps {
  session: RemoteSession;
  steering: readonly QueuedSummary[];
  followUps: readonly QueuedSummary[];
}

export function Queue({ session, steering, followUps }: QueueProps) {
  if (steering.length + followUps.length === 0) return null;
  return (
    <ul class="queue" aria-label="Waiting messages">
      {steering.map((message) => (
        <QueuedItem key={message.id} session={session} message={message} when="next" />
      ))}
      {followUps.map((message) => (
        <QueuedItem key={message.id} session={session} message={message} when="after the run" />
      ))}
    </ul>
  );
}

function QueuedItem({ session, message, when }: { session: RemoteSession; message: QueuedSummary; when: string }) {
  const [text, setText] = useState<string>();
  const attempt = useAttempt();
  const words = getWords(message.content);
  const save = async () => {
    const changed = text ?? "";
    if (await attempt.run(() => session.call("edit_queued", { id: message.id, message: changed }))) setText(undefined);
  };
  return (
    <li class="queued">
      <span class="tag">{when}</span>
      {text === undefined ? (
        <span class="cut">
          <Name text={words} />
        </span>
      ) : (
        <FocusedText
          aria-label="Waiting message"
          class="grow"
          rows={Math.min(maxRows, text.split("\n").length)}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") setText(undefined);
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void save();
          }}
        />
      )}
      {attempt.problem !== "" && <span class="problem">{attempt.problem}</span>}
      <button
        class="icon-button"
        aria-label="Change this message"
        onClick={() => setText(text === undefined ? getTypedContent(message.content).text : undefined)}
      >
        <EditIcon />
      </button>
      <button
        class="icon-button"
        aria-label="Take this message back"
        onClick={() => void attempt.run(() => session.call("remove_queued", { id: message.id }))}
      >
        <CloseIcon />
      </button>
    </li>
  );
}

const maxRows = 8;

const getWords = (content: QueuedSummary["content"]): string =>
  typeof content === "string"
    ? content
    : content.map((block) => (block.type === "text" ? block.text : "(image)")).join(" ");
