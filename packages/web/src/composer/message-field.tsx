/** The field in which a message is written. It is as high as its text. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { RemoteSession } from "@tau/protocol/client";
import { isCommandStart } from "@tau/protocol/surface";
import type { Draft } from "../app/draft.ts";
import { isCoarse } from "../app/pointer.ts";
import { useRedraw } from "../app/redraw.ts";
import { Completion } from "../commands/completion.ts";
import { CompletionList, completionListId, toOptionId } from "./completion-list.tsx";
import { listImages } from "./dropped-files.ts";

interface MessageFieldProps {
  session: RemoteSession;
  draft: Draft;
  placeholder: string;
  /** `true`: whatever is chosen, after the run. */
  onSend: (isFollowUp?: boolean) => void;
  attach: (files: readonly File[]) => void;
}

export function MessageField({ session, draft, placeholder, onSend, attach }: MessageFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const completion = useMemo(() => new Completion(session), [session]);
  useEffect(() => () => completion.close(), [completion]);
  useRedraw((listener) => completion.onChange(listener), [completion]);
  useEffect(() => {
    // On a phone that would bring up the keyboard.
    if (draft.wantsFocus && !isCoarse()) field.current?.focus();
    draft.wantsFocus = false;
  }, [draft]);
  const { shown } = completion;

  const ask = ({ value, selectionStart, selectionEnd }: HTMLTextAreaElement) => {
    if (selectionStart === selectionEnd) completion.ask(value, selectionEnd);
    else completion.close();
  };
  /** Whether there was something to take. */
  const take = (index?: number): boolean => {
    const element = field.current!;
    const taken = completion.take(element.value, element.selectionEnd, index);
    if (!taken) return false;
    element.value = taken.text;
    element.setSelectionRange(taken.cursor, taken.cursor);
    draft.text = taken.text;
    completion.close();
    // What is in a directory comes next.
    if (!taken.text.slice(0, taken.cursor).endsWith(" ")) ask(element);
    return true;
  };
  const send = (isFollowUp?: boolean) => {
    completion.close();
    onSend(isFollowUp);
  };
  /** A command is sent with the key that completes it, and so is what is complete already. */
  const takeOrSend = () => {
    const element = field.current!;
    const typed = element.value;
    const isCommand = isCommandStart(completion.shown?.before ?? "");
    const isCompleted = take() && element.value.trimEnd() !== typed.trimEnd();
    if (!isCompleted || isCommand) send();
  };
  const onListKey = (key: string): boolean => {
    // Not what was drawn: something may have come since.
    if (!completion.shown) return false;
    if (key === "ArrowDown") completion.move(1);
    else if (key === "ArrowUp") completion.move(-1);
    else if (key === "Escape") completion.close();
    else return key === "Tab" && take();
    return true;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isPlain && onListKey(event.key)) event.preventDefault();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(true);
    // On a phone, Enter is the only way to begin a line.
    else if (event.key === "Enter" && !event.shiftKey && !isCoarse()) takeOrSend();
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
  return (
    <>
      {shown && <CompletionList shown={shown} onTake={take} />}
      <div class="growing" data-text={draft.text}>
        <textarea
          id="message"
          ref={field}
          rows={1}
          value={draft.text}
          placeholder={placeholder}
          aria-label="Message"
          aria-autocomplete="list"
          aria-controls={shown && completionListId}
          aria-activedescendant={shown && toOptionId(shown.selected)}
          onInput={(event) => {
            draft.text = event.currentTarget.value;
            ask(event.currentTarget);
          }}
          onKeyDown={onKey}
          onClick={() => completion.close()}
          onBlur={() => completion.close()}
          onPaste={onPaste}
        />
      </div>
    </>
  );
}
