/** A dialog: the browser keeps the focus in it and gives it back. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CloseIcon } from "./icons.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** `side`: at the edge of the window, for what is looked at beside the transcript. `wide`: for tables. */
  shape?: "middle" | "side" | "wide";
}

export function Dialog({ title, onClose, children, shape = "middle" }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // At once: a key that is pressed before the next frame is for the dialog.
  useLayoutEffect(() => {
    const element = dialog.current!;
    element.showModal();
    return () => element.close();
  }, []);
  const onClick = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };
  const onKey = (event: KeyboardEvent) => {
    // Search fields of some browsers keep it for themselves.
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    onClose();
  };
  // The event comes later than the call. A dialog that is gone by then must not close the one that was opened since.
  const onClosed = () => {
    if (dialog.current) onClose();
  };
  const listeners = { onClose: onClosed, onClick, onKeyDown: onKey };
  return (
    <dialog class={`dialog ${shape}`} ref={dialog} aria-label={title} {...listeners}>
      <div class="dialog-body">
        <header class="dialog-title">
          <h2>{title}</h2>
          <button class="icon-button" onClick={onClose} aria-label="Close">
            <CloseIcon />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
