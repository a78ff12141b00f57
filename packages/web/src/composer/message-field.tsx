/** The field in which a message is written. It is as high as its text. */
import { useEffect, useRef } from "preact/hooks";
import type { Draft } from "../app/draft.ts";
import { isCoarse } from "../app/pointer.ts";
import { listImages } from "./dropped-files.ts";

export interface MessageFieldProps {
  draft: Draft;
  placeholder: string;
  /** `true`: whatever is chosen, after the run. */
  onSend: (isFollowUp?: boolean) => void;
  attach: (files: readonly File[]) => void;
}

export function MessageField({ draft, placeholder, onSend, attach }: MessageFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a phone that would bring up the keyboard.
    if (draft.wantsFocus && !isCoarse()) field.current?.focus();
    draft.wantsFocus = false;
  }, [draft]);
  const onKey = (event: KeyboardEvent) => {
    const isPlain = !event.shiftKey && !event.isComposing;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSend(true);
    // On a phone, Enter is the only way to begin a line.
    else if (event.key === "Enter" && isPlain && !isCoarse()) onSend();
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
    <div class="growing" data-text={draft.text}>
      <textarea
        id="message"
        ref={field}
        rows={1}
        value={draft.text}
        placeholder={placeholder}
        aria-label="Message"
        onInput={(event) => (draft.text = event.currentTarget.value)}
        onKeyDown={onKey}
        onPaste={onPaste}
      />
    </div>
  );
}
