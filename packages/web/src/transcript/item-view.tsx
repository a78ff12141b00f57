/** Draws an item of a transcript. */
import { emptyAnswerText, getFailureAdvice, getFoldedLines, isEmptyAnswer } from "@tau/protocol/surface";
import { useContext } from "preact/hooks";
import { ForkIcon } from "../app/icons.tsx";
import { memo } from "../app/memo.ts";
import { SessionContext } from "../app/session-context.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { toLiveParts, toParts } from "./answer-parts.ts";
import { Hidden } from "../text/hidden.tsx";
import { toSafeName } from "../text/visible-text.ts";
import { ContentView } from "./content.tsx";
import type { Item } from "./items.ts";
import type { AssistantMessage } from "./messages.ts";
import { Output } from "./output.tsx";
import { Name } from "../text/name.tsx";
import { Thinking } from "./thinking.tsx";
import { ToolCallView } from "./tool-call.tsx";

export const ItemView = memo(({ item }: { item: Item }) => {
  switch (item.kind) {
    case "user":
      return <UserMessage item={item} />;
    case "answer":
    case "live":
      return <Answer item={item} />;
    case "call":
      return <ToolCallView call={item.call} />;
    case "command":
      return (
        <section class="call done" aria-label="Your command">
          <p class="call-title">
            <span class="call-name">$</span>
            <span class="call-subject">
              <Hidden text={item.message.command} />
            </span>
            {item.message.exitCode !== undefined && item.message.exitCode !== 0 && (
              <span class="call-note">exit {item.message.exitCode}</span>
            )}
          </p>
          <Output text={item.message.output} shows="command" isError={false} />
        </section>
      );
    case "summary":
      return (
        <details class="summary">
          <summary>{item.title}</summary>
          <Markdown text={item.text} />
        </details>
      );
    case "message":
      return <ExtensionMessage item={item} />;
    case "note":
      return (
        <p class="note">
          <Name text={item.text} />
        </p>
      );
    case "error":
      return (
        <p class="problem" role="alert">
          {item.text}
        </p>
      );
    default:
      return item satisfies never;
  }
});

function ExtensionMessage({ item: { from, content, details } }: { item: Item & { kind: "message" } }) {
  const lines = getFoldedLines(details);
  const body = <ContentView content={content} />;
  return (
    <article class="answer" aria-label={`Message of ${toSafeName(from)}`}>
      {lines ? (
        <details class="summary">
          <summary>
            {lines.map((line, index) => (
              <div key={index}>
                <Hidden text={line} />
              </div>
            ))}
          </summary>
          {body}
        </details>
      ) : (
        <>
          <p class="muted small">
            <Name text={from} />
          </p>
          {body}
        </>
      )}
    </article>
  );
}

function UserMessage({ item: { entryId, content } }: { item: Item & { kind: "user" } }) {
  const { fork } = useContext(SessionContext);
  return (
    <article class="user" aria-label="You">
      <ContentView content={content} />
      {fork && (
        <button
          class="icon-button fork"
          aria-label="New session from this message"
          title="New session from this message"
          onClick={() => fork(entryId)}
        >
          <ForkIcon />
        </button>
      )}
    </article>
  );
}

/** Draws the same elements while an answer arrives and afterwards, so that a selection and what was unfolded stay. */
function Answer({ item }: { item: Item & { kind: "answer" | "live" } }) {
  const isLive = item.kind === "live";
  const parts = isLive ? toLiveParts(item.message) : toParts(item.message);
  return (
    <article class="answer" aria-label="Answer">
      {parts.map(({ key, type, text }, index) =>
        type === "thinking" ? (
          <Thinking key={key} text={text} isLive={isLive && index === parts.length - 1} />
        ) : (
          <Markdown key={key} text={text} />
        ),
      )}
      {isLive ? parts.length === 0 && item.message.calls.length === 0 && <Dots /> : <Ending message={item.message} />}
    </article>
  );
}

function Ending({ message }: { message: AssistantMessage }) {
  const { stopReason, errorMessage = "The answer failed.", failure } = message;
  const advice = getFailureAdvice(failure?.kind, "session");
  if (stopReason === "error") {
    return (
      <p class="problem">
        {errorMessage}
        {advice !== undefined && ` ${advice}`}
      </p>
    );
  }
  if (isEmptyAnswer(message)) return <p class="note">{emptyAnswerText}</p>;
  if (stopReason === "aborted") return <p class="note">Stopped.</p>;
  return stopReason === "length" ? <p class="note">The answer reached its length limit.</p> : null;
}

const Dots = () => (
  <p class="dots" aria-label="The model is working">
    <span />
    <span />
    <span />
  </p>
);
