/** The list of suggestions below an editor: when it is asked for, and what it shows. */
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "../completion/autocomplete.ts";
import { getCursorLine, isSame, moveTo, type TextDocument } from "../editing/document.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { SelectList, type SelectListTheme } from "./select-list.ts";

export interface CompletionPort {
  getDocument(): TextDocument;
  /** A suggestion was taken. */
  apply(document: TextDocument): void;
  requestRender(): void;
}

interface Shown {
  readonly list: SelectList;
  readonly prefix: string;
  /** Somebody asked for paths. */
  readonly force: boolean;
}

const triggers = ["@", "#"];
/** Files are searched when nothing was typed for this time. */
const searchDelayMs = 20;
const defaultMaxVisible = 5;
const commandColumns = { minPrimaryColumnWidth: 12, maxPrimaryColumnWidth: 32 };

export class Completion {
  readonly #port: CompletionPort;
  readonly #theme: SelectListTheme;
  #provider: AutocompleteProvider | undefined;
  #maxVisible = defaultMaxVisible;
  #shown: Shown | undefined;
  #request: AbortController | undefined;
  /** A word that begins with a trigger, before the cursor. */
  #triggerWord = toTriggerWord(triggers);

  constructor(port: CompletionPort, theme: SelectListTheme) {
    this.#port = port;
    this.#theme = theme;
  }

  setProvider(provider: AutocompleteProvider): void {
    this.cancel();
    this.#provider = provider;
    this.#triggerWord = toTriggerWord([...triggers, ...(provider.triggerCharacters ?? [])]);
  }

  get maxVisible(): number {
    return this.#maxVisible;
  }

  set maxVisible(count: number) {
    this.#maxVisible = Number.isFinite(count) ? Math.max(3, Math.min(20, Math.floor(count))) : defaultMaxVisible;
  }

  get isShown(): boolean {
    return this.#shown !== undefined;
  }

  /** Whether the suggestions are commands, which are sent when they are taken with Enter. */
  get isForCommands(): boolean {
    return this.#shown?.prefix.startsWith("/") ?? false;
  }

  cancel(): void {
    this.#request?.abort();
    this.#request = undefined;
    this.#shown = undefined;
  }

  /** The cursor moved, or the text changed: what is shown may not fit any more. */
  update(): void {
    if (this.#shown) this.#start(this.#shown.force, false);
    else this.#request?.abort();
  }

  /** Characters were typed or deleted: suggestions may be wanted. */
  updateAfterEdit(typed?: string): void {
    if (this.#shown || !this.#provider) return this.update();
    const before = getTextBefore(this.#port.getDocument());
    const isWanted = typed === undefined || /^\S+$/.test(typed);
    if (isWanted && (isCommand(this.#port.getDocument()) || this.#triggerWord.test(before))) this.#start(false, false);
    else this.update();
  }

  /** Tab: commands where they are written, otherwise paths. If there is only one path, it is taken. */
  ask(): void {
    const document = this.#port.getDocument();
    if (isCommand(document) && !getTextBefore(document).trimStart().includes(" ")) return this.#start(false, false);
    const { lines, cursor } = document;
    const isAllowed = this.#provider?.shouldTriggerFileCompletion?.([...lines], cursor.line, cursor.col) ?? true;
    if (isAllowed) this.#start(true, true);
  }

  #start(force: boolean, takeSingle: boolean): void {
    this.#request?.abort();
    const provider = this.#provider;
    if (!provider) return;
    const request = new AbortController();
    this.#request = request;
    const document = this.#port.getDocument();
    const run = () => void this.#run(provider, document, { request, force, takeSingle });
    if (force || !this.#triggerWord.test(getTextBefore(document))) return queueMicrotask(run);
    const timer = setTimeout(run, searchDelayMs);
    request.signal.addEventListener("abort", () => clearTimeout(timer));
  }

  async #run(
    provider: AutocompleteProvider,
    document: TextDocument,
    { request, force, takeSingle }: { request: AbortController; force: boolean; takeSingle: boolean },
  ): Promise<void> {
    const { signal } = request;
    if (signal.aborted) return;
    const { lines, cursor } = document;
    // A provider that fails has nothing to suggest: typing goes on.
    const suggestions = await provider
      .getSuggestions([...lines], cursor.line, cursor.col, { signal, force })
      .catch(() => null);
    const now = this.#port.getDocument();
    if (signal.aborted || now.lines !== lines || !isSame(now.cursor, cursor)) return;
    this.#request = undefined;
    const [single, ...others] = suggestions?.items ?? [];
    if (!suggestions || !single) this.#shown = undefined;
    else if (takeSingle && others.length === 0) this.#take(single, suggestions.prefix);
    else this.#shown = { list: this.#createList(suggestions), prefix: suggestions.prefix, force };
    this.#port.requestRender();
  }

  #createList({ items, prefix }: AutocompleteSuggestions): SelectList {
    const columns = prefix.startsWith("/") ? commandColumns : undefined;
    const list = new SelectList(items, this.#maxVisible, this.#theme, columns);
    const exact = items.findIndex(({ value }) => value === prefix);
    const index = exact === -1 ? items.findIndex(({ value }) => prefix !== "" && value.startsWith(prefix)) : exact;
    if (index !== -1) list.setSelectedIndex(index);
    list.onSelect = (item) => this.#take(item, prefix);
    return list;
  }

  /** Puts the selected suggestion into the text. */
  accept(): void {
    const item = this.#shown?.list.getSelectedItem();
    if (this.#shown && item) this.#take(item, this.#shown.prefix);
  }

  #take(item: AutocompleteItem, prefix: string): void {
    const { lines, cursor, pastes } = this.#port.getDocument();
    const result = this.#provider?.applyCompletion([...lines], cursor.line, cursor.col, item, prefix);
    this.cancel();
    if (!result) return;
    const position = { line: result.cursorLine, col: result.cursorCol };
    this.#port.apply(moveTo({ lines: result.lines, cursor: position, pastes }, position));
  }

  /** A key that moves the selection. */
  handleInput(data: string): void {
    this.#shown?.list.handleInput(data);
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    return this.#shown?.list.handleMouse(event);
  }

  render(width: number): string[] {
    return this.#shown?.list.render(width) ?? noLines;
  }
}

const noLines: string[] = [];

function getTextBefore(document: TextDocument): string {
  const { text, col } = getCursorLine(document);
  return text.slice(0, col);
}

/** Commands stand at the start of the first line. */
const isCommand = (document: TextDocument): boolean =>
  document.cursor.line === 0 && getTextBefore(document).trimStart().startsWith("/");

function toTriggerWord(characters: readonly string[]): RegExp {
  const escaped = characters.map((character) => character.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  return new RegExp(`(?:^|\\s)(?:${escaped.join("|")})(?:\\S*|"[^"]*)$`);
}
