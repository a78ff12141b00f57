/** Messages that wait for their turn. They can be changed and taken back. */
import { useState } from "preact/hooks";
import type { QueuedSummary } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";
import { useAttempt } from "../app/attempt.ts";
import { FocusedInput } from "../app/focused-input.tsx";
import { CloseIcon, EditIcon } from "../app/icons.tsx";
import { Name } from "../text/name.tsx";

export interface QueueProps {
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
  const save = async (event: Event) => {
    event.preventDefault();
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
        <form class="grow" onSubmit={(event) => void save(event)}>
          <FocusedInput
            aria-label="Waiting message"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && setText(undefined)}
          />
        </form>
      )}
      {attempt.problem !== "" && <span class="problem">{attempt.problem}</span>}
      <button
        class="icon-button"
        aria-label="Change this message"
        onClick={() => setText(text === undefined ? words : undefined)}
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

const getWords = (content: QueuedSummary["content"]): string =>
  typeof content === "string"
    ? content
    : content.map((block) => (block.type === "text" ? block.text : "(image)")).join(" ");
