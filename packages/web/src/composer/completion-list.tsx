/** Lists what completes the text in the field. The field keeps the focus. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Completions } from "../commands/completion.ts";
import { Name } from "../text/name.tsx";

export const completionListId = "completions";

export const toOptionId = (index: number): string => `${completionListId}-${index}`;

export function CompletionList({ shown, onTake }: { shown: Completions; onTake: (index: number) => void }) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  return (
    <ul class="completions" role="listbox" id={completionListId} aria-label="Completions" ref={list}>
      {shown.items.map(({ value, description }, index) => (
        <li
          key={index}
          id={toOptionId(index)}
          class={index === shown.selected ? "completion chosen" : "completion"}
          role="option"
          aria-selected={index === shown.selected}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(index)}
        >
          <span class="cut">
            <Name text={value} />
          </span>
          {description !== undefined && (
            <span class="muted small cut">
              <Name text={description} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
