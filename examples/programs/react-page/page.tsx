/** The page: a chat with one session. */
import { GatewayClient } from "@tau/protocol/client";
import { type UIMessage, type UIMessagePart, useSession } from "@tau/react";
import { memo, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

function Chat({ client, id }: { client: GatewayClient; id: string }) {
  const { messages, live, approvals, connection, send, approve, stop } = useSession(client, id);
  const [text, setText] = useState("");
  return (
    <main data-connection={connection.kind}>
      <ol aria-label="Messages">
        {messages.map((message) => (
          <Message key={message.id} message={message} />
        ))}
      </ol>
      {approvals.map(({ id, summary }) => (
        <section key={id} aria-label="Question">
          <p>{summary}</p>
          <button onClick={() => void approve(id, { decision: "allow" })}>Allow</button>
          <button onClick={() => void approve(id, { decision: "deny" })}>Deny</button>
        </section>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send(text);
          setText("");
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {live.run && (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}

/** Drawn again only when it has changed: finished messages are the same objects. */
const Message = memo(({ message }: { message: UIMessage }) => (
  <li data-role={message.role}>
    {message.parts.map((part, index) => (
      <Part key={index} part={part} />
    ))}
  </li>
));

function Part({ part }: { part: UIMessagePart }) {
  switch (part.type) {
    case "text":
      return <p>{part.text}</p>;
    case "reasoning":
      return <em>{part.text}</em>;
    case "file":
      return <img src={part.url} alt="" />;
    case "dynamic-tool":
      return (
        <pre data-state={part.state}>
          {part.toolName} {part.output ?? part.errorText ?? ""}
        </pre>
      );
    default:
      return null;
  }
}

interface SessionAnswer {
  url: string;
  deviceId: string;
  token: string;
  sessionId: string;
}

const answer = await fetch("/api/session", { method: "POST" });
const { url, deviceId, token, sessionId } = (await answer.json()) as SessionAnswer;
const client = new GatewayClient({ url, deviceId, key: token, abilities: { approvals: true } });
void client.connect();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <Chat client={client} id={sessionId} />
  </StrictMode>,
);
