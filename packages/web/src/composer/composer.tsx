/** Where messages are written. While a run is in progress they are said in between, or wait for its end. */
import { useRef, useState } from "preact/hooks";
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { useAttempt } from "../app/attempt.ts";
import type { Draft } from "../app/draft.ts";
import { CloseIcon, ImageIcon, SendIcon, StopIcon } from "../app/icons.tsx";
import { useRedraw } from "../app/redraw.ts";
import { type AttachedImage, readImage } from "./attach-image.ts";
import { sendMessage } from "./send-message.ts";

export interface ComposerProps {
  client: GatewayClient;
  session: RemoteSession;
  draft: Draft;
  isRunning: boolean;
}

export function Composer({ client, session, draft, isRunning }: ComposerProps) {
  useRedraw((listener) => draft.onChange(listener), [draft]);
  const attempt = useAttempt();
  const [images, setImages] = useState<readonly AttachedImage[]>([]);
  const [waits, setWaits] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const mayWrite = client.hello?.scopes.includes("write") ?? true;

  const send = async (isFollowUp: boolean) => {
    const text = draft.text.trim();
    if (text === "" && images.length === 0) return;
    const sent = { text, images };
    draft.text = "";
    setImages([]);
    const kind = !isRunning ? "prompt" : isFollowUp ? "follow_up" : "steer";
    const isSent = await attempt.run(() => sendMessage(session, kind, sent));
    // What could not be sent is not lost.
    if (!isSent && draft.text === "") draft.text = text;
    if (!isSent) setImages(sent.images);
  };
  const attach = (files: Iterable<File>) =>
    attempt.run(async () => {
      const added = await Promise.all([...files].map(readImage));
      setImages((before) => [...before, ...added]);
    });
  const onKey = (event: KeyboardEvent) => {
    const isPlain = !event.shiftKey && !event.isComposing;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send(true);
    // On a phone, Enter is the only way to begin a line.
    else if (event.key === "Enter" && isPlain && !matchMedia("(pointer: coarse)").matches) void send(waits);
    else if (event.key === "Escape") field.current?.blur();
    else return;
    event.preventDefault();
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
    if (files.length === 0) return;
    event.preventDefault();
    void attach(files);
  };
  if (!mayWrite) return <p class="muted small">This device may only read.</p>;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send(waits);
      }}
    >
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      <AttachedImages images={images} onRemove={(image) => setImages(images.filter((other) => other !== image))} />
      <textarea
        id="message"
        ref={field}
        rows={1}
        value={draft.text}
        placeholder={isRunning ? (waits ? "Say this after the run" : "Say this now") : "What should be done?"}
        aria-label="Message"
        onInput={(event) => (draft.text = event.currentTarget.value)}
        onKeyDown={onKey}
        onPaste={onPaste}
      />
      <div class="composer-row">
        <label class="icon-button" title="Attach an image">
          <ImageIcon />
          <span class="only-heard">Attach an image</span>
          <input
            class="only-heard"
            type="file"
            accept="image/png,image/jpeg,image/gif,image/webp"
            multiple
            onChange={(event) => {
              void attach(event.currentTarget.files ?? []);
              event.currentTarget.value = "";
            }}
          />
        </label>
        {isRunning && <WhenChoice waits={waits} onChange={setWaits} />}
        <span class="gap" />
        {isRunning && <StopButtons client={client} session={session} />}
        <button class="send" aria-label={isRunning ? (waits ? "Queue" : "Steer") : "Send"} disabled={attempt.isBusy}>
          <SendIcon />
        </button>
      </div>
    </form>
  );
}

const WhenChoice = ({ waits, onChange }: { waits: boolean; onChange: (waits: boolean) => void }) => (
  <div class="choice" role="radiogroup" aria-label="When the message is said">
    <button type="button" role="radio" aria-checked={!waits} onClick={() => onChange(false)}>
      Now
    </button>
    <button
      type="button"
      role="radio"
      aria-checked={waits}
      aria-label="After the run"
      title="After the run"
      onClick={() => onChange(true)}
    >
      Later
    </button>
  </div>
);

const StopButtons = ({ client, session }: { client: GatewayClient; session: RemoteSession }) => (
  <>
    <button
      type="button"
      class="text-button"
      title="Ends the run when the calls that are running have ended"
      onClick={() => void client.call("agent.interrupt", { sessionId: session.id })}
    >
      Stop after step
    </button>
    <button type="button" class="stop" aria-label="Stop now" onClick={() => void session.call("abort")}>
      <StopIcon />
    </button>
  </>
);

const AttachedImages = ({
  images,
  onRemove,
}: {
  images: readonly AttachedImage[];
  onRemove: (image: AttachedImage) => void;
}) => (
  <>
    {images.map((image, index) => (
      <span class="attached" key={index}>
        {image.name}
        <button type="button" class="icon-button" aria-label={`Remove ${image.name}`} onClick={() => onRemove(image)}>
          <CloseIcon />
        </button>
      </span>
    ))}
  </>
);
