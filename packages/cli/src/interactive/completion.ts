/** Completes commands, templates, skills and files. The session knows them, so that this works on another machine too. */
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@tau/tui";
import type { SessionClient } from "./session-client.ts";
import { slashCommands } from "./slash-commands.ts";

export function createCompletion(getClient: () => SessionClient): AutocompleteProvider {
  return {
    async getSuggestions(lines, cursorLine, cursorCol, { signal }): Promise<AutocompleteSuggestions | null> {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
      const own = cursorLine === 0 ? completeCommand(before) : [];
      const { from, items } = await getClient().execute({ type: "complete", text: before, cursor: before.length });
      if (signal.aborted) return null;
      const all = [...own, ...items.map(({ value, description }) => toItem(value, description))];
      if (all.length === 0) return null;
      // The editor sends what is taken with Enter, if its prefix has the slash of a command.
      if (!isCommandStart(before)) return { items: all, prefix: before.slice(from) };
      return { items: all.map((item) => ({ ...item, value: `/${item.value}` })), prefix: before };
    },
    applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
      const line = lines[cursorLine] ?? "";
      const start = cursorCol - prefix.length;
      // A directory is completed further; after anything else a new word begins.
      const gap = item.value.endsWith("/") ? "" : " ";
      const completed = `${line.slice(0, start)}${item.value}${gap}${line.slice(cursorCol)}`;
      return {
        lines: lines.with(cursorLine, completed),
        cursorLine,
        cursorCol: start + item.value.length + gap.length,
      };
    },
  };
}

const toItem = (value: string, description: string | undefined): AutocompleteItem => ({
  value,
  label: value,
  ...(description !== undefined && { description }),
});

const isCommandStart = (before: string): boolean => /^\/\S*$/.test(before);

function completeCommand(before: string): AutocompleteItem[] {
  if (!isCommandStart(before)) return [];
  return slashCommands
    .filter(({ name }) => `/${name}`.startsWith(before))
    .map(({ name, description }) => toItem(name, description));
}
