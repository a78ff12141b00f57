/** One item of a transcript. */
import { memo } from "../app/memo.ts";
import { LiveMarkdown, Markdown } from "../markdown/markdown.tsx";
import { ContentView } from "./content.tsx";
import type { AssistantMessage, Item } from "./items.ts";
import { Output } from "./output.tsx";
import { Thinking } from "./thinking.tsx";
import { ToolCallView } from "./tool-call.tsx";

export const ItemView = memo(({ item }: { item: Item }) => {
  switch (item.kind) {
    case "user":
      return (
        <article class="user" aria-label="You">
          <ContentView content={item.content} />
        </article>
      );
    case "answer":
      return <Answer message={item.message} />;
    case "live":
      return (
        <article class="answer" aria-label="Answer">
          {item.message.thinking !== "" && <Thinking text={item.message.thinking} isLive={item.message.text === ""} />}
          <LiveMarkdown text={item.message.text} />
          {item.message.text === "" && item.message.calls.length === 0 && <Dots />}
        </article>
      );
    case "call":
      return <ToolCallView call={item.call} />;
    case "command":
      return (
        <section class="call done" aria-label="Your command">
          <p class="call-title">
            <span class="call-name">$</span>
            <span class="call-subject">{item.message.command}</span>
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
      return (
        <article class="answer" aria-label={`Message of ${item.from}`}>
          <p class="muted small">{item.from}</p>
          <ContentView content={item.content} />
        </article>
      );
    case "note":
      return <p class="note">{item.text}</p>;
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

function Answer({ message }: { message: AssistantMessage }) {
  const { content, stopReason, errorMessage } = message;
  return (
    <article class="answer" aria-label="Answer">
      {content.map((block, index) => {
        if (block.type === "thinking") {
          return block.thinking.trim() === "" ? null : <Thinking key={index} text={block.thinking} isLive={false} />;
        }
        return block.type === "text" ? <Markdown key={index} text={block.text} /> : null;
      })}
      {stopReason === "error" && <p class="problem">{errorMessage ?? "The answer failed."}</p>}
      {stopReason === "aborted" && <p class="note">Stopped.</p>}
      {stopReason === "length" && <p class="note">The answer reached its length limit.</p>}
    </article>
  );
}

const Dots = () => (
  <p class="dots" aria-label="The model is working">
    <span />
    <span />
    <span />
  </p>
);
