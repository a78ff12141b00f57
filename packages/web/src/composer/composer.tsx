/** Where messages are written. While a run is in progress they are said in between, or wait for its end. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { useAttempt } from "../app/attempt.ts";
import type { Draft, SendMessage } from "../app/draft.ts";
import { CloseIcon, ImageIcon, SendIcon } from "../app/icons.tsx";
import { isCoarse } from "../app/pointer.ts";
import { useRedraw } from "../app/redraw.ts";
import { Name } from "../text/name.tsx";
import { toSafeName } from "../text/visible-text.ts";
import { type AttachedImage, attachImages } from "./attach-image.ts";
import { listImages, useDroppedFiles } from "./dropped-files.ts";
import { Outgoing } from "./outgoing.tsx";
import { sendMessage } from "./send-message.ts";
import { StopButtons } from "./stop-buttons.tsx";

export interface ComposerProps {
  client: GatewayClient;
  session: RemoteSession;
  draft: Draft;
  isRunning: boolean;
}

export function Composer({ client, session, draft, isRunning }: ComposerProps) {
  useRedraw((listener) => draft.onChange(listener), [draft]);
  const attempt = useAttempt();
  const [waits, setWaits] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const mayWrite = client.hello?.scopes.includes("write") ?? true;
  useEffect(() => {
    // On a phone that would bring up the keyboard.
    if (draft.wantsFocus && !isCoarse()) field.current?.focus();
    draft.wantsFocus = false;
  }, [draft]);

  const deliver = (isFollowUp: boolean) => {
    const kind = !isRunning ? "prompt" : isFollowUp ? "follow_up" : "steer";
    return (message: Parameters<SendMessage>[0]) => sendMessage(session, kind, message);
  };
  const send = (isFollowUp: boolean) => {
    attempt.clear();
    draft.send(deliver(isFollowUp));
  };
  const attach = (files: readonly File[]) =>
    void attempt.run(async () => {
      draft.images = await attachImages(draft.images, files);
    });
  const onKey = (event: KeyboardEvent) => {
    const isPlain = !event.shiftKey && !event.isComposing;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(true);
    // On a phone, Enter is the only way to begin a line.
    else if (event.key === "Enter" && isPlain && !isCoarse()) send(waits);
    else if (event.key === "Escape") field.current?.blur();
    else return;
    event.preventDefault();
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = listImages(event.clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    attach(files);
  };
  useDroppedFiles(attach);
  if (!mayWrite) return <p class="muted small">This device may only read.</p>;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send(waits);
      }}
    >
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      <Outgoing
        messages={draft.outgoing}
        onSendAgain={(message) => draft.sendAgain(message, deliver(waits))}
        onTakeBack={(message) => draft.takeBack(message)}
      />
      <AttachedImages
        images={draft.images}
        onRemove={(image) => (draft.images = draft.images.filter((other) => other !== image))}
      />
      <div class="growing" data-text={draft.text}>
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
      </div>
      <div class="composer-row">
        <label class="icon-button" title="Attach an image">
          <ImageIcon />
          <span class="only-heard">Attach an image</span>
          <input
            class="only-heard"
            type="file"
            accept="image/*"
            multiple
            onChange={(event) => {
              attach([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = "";
            }}
          />
        </label>
        {isRunning && <WhenChoice waits={waits} onChange={setWaits} />}
        <span class="gap" />
        {isRunning && <StopButtons client={client} session={session} />}
        <button class="send" aria-label={isRunning ? (waits ? "Queue" : "Steer") : "Send"}>
          <SendIcon />
        </button>
      </div>
    </form>
  );
}

const WhenChoice = ({ waits, onChange }: { waits: boolean; onChange: (waits: boolean) => void }) => (
  <div class="choice" role="group" aria-label="When the message is said">
    <button type="button" aria-pressed={!waits} onClick={() => onChange(false)}>
      Now
    </button>
    <button
      type="button"
      aria-pressed={waits}
      aria-label="After the run"
      title="After the run"
      onClick={() => onChange(true)}
    >
      Later
    </button>
  </div>
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
        <img src={`data:${image.mimeType};base64,${image.data}`} alt="" />
        <span class="cut">
          <Name text={image.name} />
        </span>
        <button
          type="button"
          class="icon-button"
          aria-label={`Remove ${toSafeName(image.name)}`}
          onClick={() => onRemove(image)}
        >
          <CloseIcon />
        </button>
      </span>
    ))}
  </>
);
