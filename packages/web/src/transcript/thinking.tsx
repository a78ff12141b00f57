/** The model's thinking, folded. */
import { useState } from "preact/hooks";
import { ChevronIcon } from "../app/icons.tsx";
import { Markdown } from "../markdown/markdown.tsx";

export function Thinking({ text, isLive }: { text: string; isLive: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="thinking">
      <button class="text-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronIcon /> {isLive ? "Thinking…" : "Thinking"}
      </button>
      {isOpen && <Markdown text={text} />}
    </div>
  );
}
