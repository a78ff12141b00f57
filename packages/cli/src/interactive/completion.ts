/** Completes commands, templates, skills and files. The session knows them, so that this works on another machine too. */
import {
  applyCompletion,
  findCommandHere,
  isCommandStart,
  listCommandsHere,
  type ShownCommand,
} from "@tau/protocol/surface";
import { type AutocompleteItem, type AutocompleteProvider, type AutocompleteSuggestions, fuzzyFilter } from "@tau/tui";
import { type ArgumentSource, terminalCommands } from "./slash-commands.ts";

export function createCompletion(getSource: () => ArgumentSource): AutocompleteProvider {
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
      const isFirstLine = cursorLine === 0;
      const source = getSource();
      const choices = isFirstLine ? await completeArgument(source, before, force) : undefined;
      if (choices) return signal.aborted ? null : choices;
      const data = await source.client.execute({ type: "complete", text: before, cursor: before.length, paths: force });
      if (signal.aborted) return null;
      const items = data.items.map(({ value, description }) => toItem(value, description));
      if (isCommandStart(before))
        return completeCommand(before, isFirstLine ? listCommandsHere(terminalCommands) : [], items);
      const isIncomplete = data.incomplete ?? false;
      return items.length === 0 && !isIncomplete ? null : { items, prefix: before.slice(data.from), isIncomplete };
    },
    applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
      const line = lines[cursorLine] ?? "";
      const { text, cursor } = applyCompletion(line, cursorCol - prefix.length, cursorCol, item.value);
      return { lines: lines.with(cursorLine, text), cursorLine, cursorCol: cursor };
    },
  };
}

const toItem = (value: string, description: string | undefined): AutocompleteItem => ({
  value,
  label: value,
  ...(description !== undefined && { description }),
});

/** `items`: templates, skills and commands of extensions, which may have the name of one of ours instead. */
function completeCommand(
  before: string,
  commands: readonly ShownCommand[],
  items: readonly AutocompleteItem[],
): AutocompleteSuggestions | null {
  const own = commands
    .filter(({ name }) => items.every(({ value }) => value !== name))
    .map(({ name, description }) => toItem(name, description));
  const found = fuzzyFilter([...own, ...items], before.slice(1), ({ value }) => value);
  if (found.length === 0) return null;
  // The editor sends what is taken with Enter, because the prefix has the slash of a command.
  return { items: found.map((item) => ({ ...item, value: `/${item.value}` })), prefix: before };
}

/**
 * Lists what can follow a command of ours. Before anything is typed only if the user asks: Enter runs the command alone
 * then. Undefined if the command has no such list, or it is typed already.
 */
async function completeArgument(
  source: ArgumentSource,
  before: string,
  isAsked: boolean,
): Promise<AutocompleteSuggestions | undefined> {
  const [, name = "", prefix = ""] = /^\/([\w-]+) +(\S*)$/.exec(before) ?? [];
  const command = findCommandHere(terminalCommands, name);
  if (!command?.listArguments || (prefix === "" && !isAsked)) return undefined;
  const items = await command.listArguments(source);
  if (items.some(({ value }) => value === prefix)) return undefined;
  return { items: fuzzyFilter([...items], prefix, ({ value }) => value), prefix };
}
