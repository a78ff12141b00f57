/** Keys for the whole page, in one table that the help shows too. */
import { useEffect } from "preact/hooks";

export interface Shortcut {
  /** The value of `KeyboardEvent.key`; with `mod`, together with Control or Command. */
  key: string;
  mod?: boolean;
  label: string;
  run: () => void;
}

export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
      const mod = event.ctrlKey || event.metaKey;
      // A letter alone is text where text is written.
      if (!mod && isWriting(event.target)) return;
      const shortcut = shortcuts.find((each) => each.key === event.key && (each.mod ?? false) === mod);
      if (!shortcut) return;
      event.preventDefault();
      shortcut.run();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
}

/** Until a dialog that was closed is removed, the browser gives keys to the field in it. */
const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !target.closest("dialog:not([open])");

export const formatShortcut = ({ key, mod }: Shortcut): string => `${mod ? "Ctrl " : ""}${key === " " ? "Space" : key}`;
