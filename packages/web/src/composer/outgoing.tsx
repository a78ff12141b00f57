/** Messages that are on their way, and those that the gateway did not take. */
import type { OutgoingMessage } from "../app/draft.ts";
import { Name } from "../text/name.tsx";

interface OutgoingProps {
  messages: readonly OutgoingMessage[];
  onSendAgain: (message: OutgoingMessage) => void;
  onTakeBack: (message: OutgoingMessage) => void;
}

export function Outgoing({ messages, onSendAgain, onTakeBack }: OutgoingProps) {
  const shown = messages.filter(({ isLate, problem }) => isLate || problem !== undefined);
  if (shown.length === 0) return null;
  return (
    <ul class="queue" aria-label="Messages on their way">
      {shown.map((message) => (
        <li class="queued" key={message.id}>
          <span class={message.problem === undefined ? "tag" : "tag failed"}>
            {message.problem === undefined ? "Sending…" : "Not sent"}
          </span>
          <span class="grow">
            <span class="cut block">
              <Name text={message.text || "(image)"} />
            </span>
            {message.problem !== undefined && (
              <span class="problem block small" role="alert">
                {message.problem}
              </span>
            )}
          </span>
          {message.problem !== undefined && (
            <>
              <button type="button" class="text-button" onClick={() => onTakeBack(message)}>
                Change
              </button>
              <button type="button" class="text-button" onClick={() => onSendAgain(message)}>
                {message.isUnknownCommand ? "Send as a message" : "Send again"}
              </button>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
