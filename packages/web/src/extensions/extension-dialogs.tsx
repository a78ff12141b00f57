/** Dialogs of extensions, one after the other. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { OpenDialog, UiAnswer, UiDialog } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";
import { pluralise } from "@tau/protocol/surface";
import { useAttempt } from "../app/attempt.ts";
import { useDeaf } from "../app/deaf.ts";
import { useFocusAfterAnswer } from "../app/focus-after-answer.ts";
import { Hidden } from "../text/hidden.tsx";

export function ExtensionDialogs({ session, dialogs }: { session: RemoteSession; dialogs: readonly OpenDialog[] }) {
  const [first, ...others] = dialogs;
  const onAnswered = useFocusAfterAnswer(first?.id);
  if (!first) return null;
  const answer = (given: UiAnswer) => {
    onAnswered();
    return session.answerDialog(first.id, given);
  };
  return <ExtensionDialog key={first.id} dialog={first.dialog} others={others.length} answer={answer} />;
}

interface ExtensionDialogProps {
  dialog: UiDialog;
  others: number;
  answer: (answer: UiAnswer) => Promise<unknown>;
}

function ExtensionDialog({ dialog, others, answer }: ExtensionDialogProps) {
  const attempt = useAttempt();
  const isDeaf = useDeaf();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    // A user who is writing keeps the focus; else the question gets the keys.
    if (!(document.activeElement instanceof HTMLTextAreaElement)) box.current?.focus();
  }, []);
  const isOff = isDeaf || attempt.isBusy;
  const give = (given: UiAnswer) => {
    if (!isOff) void attempt.run(() => answer(given));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    give({ cancelled: true });
  };
  return (
    <section
      class="question"
      role="alertdialog"
      aria-label="An extension asks"
      tabIndex={-1}
      ref={box}
      onKeyDown={onKeyDown}
    >
      <h2>
        <Hidden text={dialog.title} />
        {others > 0 && <span class="muted small"> {pluralise(others, "more question")}</span>}
      </h2>
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      <DialogBody dialog={dialog} isOff={isOff} give={give} />
      {dialog.timeout !== undefined && (
        <p class="muted small">An extension asks this. It waits {Math.ceil(dialog.timeout / 1_000)} s for an answer.</p>
      )}
    </section>
  );
}

interface DialogBodyProps {
  dialog: UiDialog;
  isOff: boolean;
  give: (answer: UiAnswer) => void;
}

function DialogBody({ dialog, isOff, give }: DialogBodyProps) {
  const cancel = (
    <button class="button" type="button" disabled={isOff} onClick={() => give({ cancelled: true })}>
      Cancel
    </button>
  );
  switch (dialog.method) {
    case "select":
      return (
        <>
          <ul class="options question-options">
            {dialog.options.map((option, index) => (
              <li key={index}>
                <button class="option" disabled={isOff} onClick={() => give({ value: option })}>
                  <span>
                    <Hidden text={option} />
                  </span>
                </button>
              </li>
            ))}
          </ul>
          <div class="question-choices">{cancel}</div>
        </>
      );
    case "confirm":
      return (
        <>
          <p class="question-summary lines">
            <Hidden text={dialog.message} />
          </p>
          <div class="question-choices">
            <button class="button" disabled={isOff} onClick={() => give({ confirmed: false })}>
              No
            </button>
            <button class="button primary" disabled={isOff} onClick={() => give({ confirmed: true })}>
              Yes
            </button>
          </div>
        </>
      );
    case "input":
    case "editor":
      return <TextForm dialog={dialog} isOff={isOff} give={give} cancel={cancel} />;
    default:
      // A newer gateway may send others.
      dialog satisfies never;
      return <div class="question-choices">{cancel}</div>;
  }
}

interface TextFormProps extends Omit<DialogBodyProps, "dialog"> {
  dialog: Extract<UiDialog, { method: "input" | "editor" }>;
  cancel: ComponentChildren;
}

function TextForm({ dialog, isOff, give, cancel }: TextFormProps) {
  const [text, setText] = useState(dialog.method === "editor" ? (dialog.prefill ?? "") : "");
  const submit = (event: Event) => {
    event.preventDefault();
    give({ value: text });
  };
  const field = {
    value: text,
    "aria-label": dialog.title,
    onInput: (event: { currentTarget: { value: string } }) => setText(event.currentTarget.value),
  };
  return (
    <form class="form" onSubmit={submit}>
      {dialog.method === "input" ? (
        <input {...field} placeholder={dialog.placeholder} />
      ) : (
        <textarea
          {...field}
          rows={6}
          onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event)}
        />
      )}
      <div class="question-choices">
        {cancel}
        <button class="button primary" disabled={isOff}>
          OK
        </button>
      </div>
    </form>
  );
}
