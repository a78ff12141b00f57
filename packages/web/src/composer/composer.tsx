/** Where messages are written. While a run is in progress they are said in between, or wait for its end. */
import { useState } from "preact/hooks";
import { useAttempt } from "../app/attempt.ts";
import type { Draft, SendMessage } from "../app/draft.ts";
import { hasScope } from "../app/has-scope.ts";
import { SendIcon } from "../app/icons.tsx";
import { useRedraw } from "../app/redraw.ts";
import { runCommand } from "../commands/run-command.ts";
import type { CommandPort } from "../commands/slash-commands.ts";
import { readImage } from "./attach-image.ts";
import { AttachButton, AttachedImages } from "./attached-images.tsx";
import { useDroppedFiles } from "./dropped-files.ts";
import { MessageField } from "./message-field.tsx";
import { Outgoing } from "./outgoing.tsx";
import { sendMessage } from "./send-message.ts";
import { StopButtons } from "./stop-buttons.tsx";

interface ComposerProps {
  page: CommandPort;
  draft: Draft;
  isRunning: boolean;
}

export function Composer({ page, draft, isRunning }: ComposerProps) {
  const { client, session } = page;
  useRedraw((listener) => draft.onChange(listener), [draft]);
  const attempt = useAttempt();
  const [waits, setWaits] = useState(false);
  const mayWrite = hasScope(client, "write");
  const attach = (files: readonly File[]) =>
    void attempt.run(() => Promise.all(files.map((file) => draft.attach((others) => readImage(file, others)))));
  useDroppedFiles(attach);
  if (!mayWrite) return <p class="muted small">This device may only read.</p>;

  const deliver = (isFollowUp: boolean): SendMessage => {
    const kind = !isRunning ? "prompt" : isFollowUp ? "follow_up" : "steer";
    return (message) => sendMessage(session, kind, message);
  };
  /** Runs it, if it is a command. */
  const submit = (isFollowUp: boolean): SendMessage => {
    const sendText = deliver(isFollowUp);
    return async (message) => ((await runCommand(page, message)) ? undefined : await sendText(message));
  };
  const send = (isFollowUp = waits) => {
    attempt.clear();
    draft.send(submit(isFollowUp));
  };
  const words = getWords(isRunning, waits);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      <Outgoing
        messages={draft.outgoing}
        onSendAgain={(message) => draft.sendAgain(message, (message.isUnknownCommand ? deliver : submit)(waits))}
        onTakeBack={(message) => draft.takeBack(message)}
      />
      <AttachedImages draft={draft} />
      <MessageField session={session} draft={draft} placeholder={words.placeholder} onSend={send} attach={attach} />
      <div class="composer-row">
        <AttachButton attach={attach} />
        {isRunning && <WhenChoice waits={waits} onChange={setWaits} />}
        <span class="gap" />
        {isRunning && <StopButtons client={client} session={session} />}
        <button class="send" aria-label={words.button} disabled={draft.isReading}>
          <SendIcon />
        </button>
      </div>
    </form>
  );
}

function getWords(isRunning: boolean, waits: boolean): { placeholder: string; button: string } {
  if (!isRunning) return { placeholder: "What should be done?", button: "Send" };
  return waits
    ? { placeholder: "Say this after the run", button: "Queue" }
    : { placeholder: "Say this now", button: "Steer" };
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
