/** Completion of commands, their arguments, and paths. */
import { type AutocompleteItem, listFiles, searchFiles } from "./files.ts";
import { fuzzyFilter } from "./fuzzy.ts";
import { looksLikePath, parsePathPrefix } from "./path-prefix.ts";

export type { AutocompleteItem } from "./files.ts";

export interface SlashCommand {
  name: string;
  description?: string;
  /** Shown before the description. */
  argumentHint?: string;
  getArgumentCompletions?(argumentPrefix: string): AutocompleteItem[] | null | Promise<AutocompleteItem[] | null>;
}

export interface AutocompleteSuggestions {
  items: AutocompleteItem[];
  /** The text before the cursor that an item replaces. */
  prefix: string;
  /** More or better items may follow: an editor shows these, even if there are none, and asks again. Default false. */
  isIncomplete?: boolean;
}

type Answer = AutocompleteSuggestions | null;

export interface AutocompleteProvider {
  /** Characters that ask for suggestions when they are typed at the start of a word. `@` and `#` always do. */
  triggerCharacters?: string[];
  /** How long nothing must be typed before suggestions for a trigger character are asked for. Default 20. */
  searchDelayMs?: number;
  /** With `force`, somebody asked for paths. Null if there is nothing to suggest. The result is not used after an abort. */
  getSuggestions(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    options: { signal: AbortSignal; force?: boolean },
  ): Answer | Promise<Answer>;
  /** Is asked for paths instead, where a provider has it. Those written for earlier versions of pi do. */
  getForceFileSuggestions?(lines: string[], cursorLine: number, cursorCol: number): Answer;
  /** The text with the item in the place of the prefix. */
  applyCompletion(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    item: AutocompleteItem,
    prefix: string,
  ): { lines: string[]; cursorLine: number; cursorCol: number };
  /** Whether Tab asks for paths here. Default: everywhere. */
  shouldTriggerFileCompletion?(lines: string[], cursorLine: number, cursorCol: number): boolean;
}

/** Commands at the start of a line, and paths: `src/`, `./`, `../`, `~/`, `"with blanks"`, and `@` for files at any depth. */
export class CombinedAutocompleteProvider implements AutocompleteProvider {
  readonly #commands: readonly (AutocompleteItem | SlashCommand)[];
  readonly #basePath: string;

  /** Relative paths begin at `basePath`. Folders are read here: `_fdPath` is accepted for older callers. */
  constructor(commands: (AutocompleteItem | SlashCommand)[] | undefined, basePath: string, _fdPath?: string | null) {
    this.#commands = commands ?? [];
    this.#basePath = basePath;
  }

  async getSuggestions(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    options: { signal: AbortSignal; force?: boolean },
  ): Promise<AutocompleteSuggestions | null> {
    const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
    const suggestions =
      before.startsWith("/") && !options.force && !parsePathPrefix(before).isMention
        ? await this.#suggestCommands(before)
        : await this.#suggestPaths(before, options);
    return suggestions && suggestions.items.length > 0 && !options.signal.aborted ? suggestions : null;
  }

  async #suggestCommands(before: string): Promise<AutocompleteSuggestions | undefined> {
    const blank = before.indexOf(" ");
    if (blank === -1) {
      const items = fuzzyFilter([...this.#commands], before.slice(1), getName).map(toCommandItem);
      return { items, prefix: before };
    }
    const command = this.#commands.find((candidate) => getName(candidate) === before.slice(1, blank));
    if (!command || !("getArgumentCompletions" in command)) return undefined;
    const prefix = before.slice(blank + 1);
    const items = await command.getArgumentCompletions?.(prefix);
    return Array.isArray(items) ? { items, prefix } : undefined;
  }

  async #suggestPaths(before: string, { signal, force = false }: { signal: AbortSignal; force?: boolean }) {
    const prefix = parsePathPrefix(before);
    if (prefix.isMention) return { items: await searchFiles(prefix, this.#basePath, signal), prefix: prefix.text };
    if (!force && !looksLikePath(prefix, before)) return undefined;
    return { items: await listFiles(prefix, this.#basePath, signal), prefix: prefix.text };
  }

  applyCompletion(lines: string[], cursorLine: number, cursorCol: number, item: AutocompleteItem, prefix: string) {
    const line = lines[cursorLine] ?? "";
    const before = line.slice(0, cursorCol - prefix.length);
    const after = line.slice(cursorCol);
    const completed = complete(before, item, prefix);
    const isQuoted = item.value.endsWith('"');
    const rest = isQuoted && after.startsWith('"') ? after.slice(1) : after;
    // The next part of a path goes inside the quotes.
    const cursor = isQuoted && item.label.endsWith("/") ? completed.length - 1 : completed.length;
    const result = [...lines];
    result[cursorLine] = before + completed + rest;
    return { lines: result, cursorLine, cursorCol: before.length + cursor };
  }

  shouldTriggerFileCompletion(lines: string[], cursorLine: number, cursorCol: number): boolean {
    const before = (lines[cursorLine] ?? "").slice(0, cursorCol).trim();
    return !before.startsWith("/") || before.includes(" ");
  }
}

const getName = (command: AutocompleteItem | SlashCommand): string =>
  "name" in command ? command.name : command.value;

function toCommandItem(command: AutocompleteItem | SlashCommand): AutocompleteItem {
  const name = getName(command);
  const hint = "argumentHint" in command ? command.argumentHint : undefined;
  const description = [hint, command.description].filter((part) => part).join(" — ");
  return description === "" ? { value: name, label: name } : { value: name, label: name, description };
}

/** A blank follows what is complete: a command, and the path of a file that is mentioned. */
function complete(before: string, { value, label }: AutocompleteItem, prefix: string): string {
  const isCommand = prefix.startsWith("/") && before.trim() === "" && !prefix.slice(1).includes("/");
  if (isCommand && !value.startsWith("/")) return `/${value} `;
  return prefix.startsWith("@") && !label.endsWith("/") ? `${value} ` : value;
}
