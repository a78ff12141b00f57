/** Completes commands, templates, skills and files. The session knows them, so that this works on another machine too. */
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@tau/tui";
import type { SessionClient } from "./session-client.ts";
import { slashCommands } from "./slash-commands.ts";

export function createCompletion(getClient: () => SessionClient): AutocompleteProvider {
  return {
    // The host answers within a frame.
    searchDelayMs: 0,
    async getSuggestions(
      lines,
      cursorLine,
      cursorCol,
      { signal, force = false },
    ): Promise<AutocompleteSuggestions | null> {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
      const own = cursorLine === 0 ? completeCommand(before) : [];
      const data = await getClient().execute({ type: "complete", text: before, cursor: before.length, paths: force });
      if (signal.aborted) return null;
      // An extension may have one of the same name instead.
      const others = own.filter(({ value }) => data.items.every((item) => item.value !== value));
      const all = [...others, ...data.items.map(({ value, description }) => toItem(value, description))];
      const isIncomplete = data.incomplete ?? false;
      if (all.length === 0 && !isIncomplete) return null;
      // The editor sends what is taken with Enter, if its prefix has the slash of a command.
      if (!isCommandStart(before)) return { items: all, prefix: before.slice(data.from), isIncomplete };
      return { items: all.map((item) => ({ ...item, value: `/${item.value}` })), prefix: before };
    },
    applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
      const line = lines[cursorLine] ?? "";
      const start = cursorCol - prefix.length;
      const { text, cursor } = toTakenText(item.value);
      // A quote that was typed before is already there.
      const after = line.slice(cursorCol).replace(/^["']/, (quote) => (isQuotedBy(item.value, quote) ? "" : quote));
      const completed = `${line.slice(0, start)}${text}${after}`;
      return { lines: lines.with(cursorLine, completed), cursorLine, cursorCol: start + cursor };
    },
  };
}

const toItem = (value: string, description: string | undefined): AutocompleteItem => ({
  value,
  label: value,
  ...(description !== undefined && { description }),
});

/** A directory is completed further, within its quotes; after anything else a new word begins. */
function toTakenText(value: string): { text: string; cursor: number } {
  if (/\/["']$/.test(value)) return { text: value, cursor: value.length - 1 };
  const text = value.endsWith("/") ? value : `${value} `;
  return { text, cursor: text.length };
}

const isQuotedBy = (value: string, quote: string): boolean => value.startsWith(quote) && value.endsWith(quote);

const isCommandStart = (before: string): boolean => /^\/\S*$/.test(before);

function completeCommand(before: string): AutocompleteItem[] {
  if (!isCommandStart(before)) return [];
  return slashCommands
    .filter(({ name }) => `/${name}`.startsWith(before))
    .map(({ name, description }) => toItem(name, description));
}
