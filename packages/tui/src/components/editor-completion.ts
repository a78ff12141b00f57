/** The list of suggestions below an editor: when it is asked for, and what it shows. */
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "../completion/autocomplete.ts";
import { getCursorLine, isSame, moveTo, type TextDocument } from "../editing/document.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { SelectList, type SelectListTheme } from "./select-list.ts";

interface CompletionPort {
  getDocument(): TextDocument;
  /** A suggestion was taken. */
  apply(document: TextDocument): void;
  requestRender(): void;
  /** How many rows of the screen the list may have. */
  getMaxRows(): number;
}

interface Shown {
  readonly list: SelectList;
  readonly prefix: string;
  /** The document that it is for. */
  readonly document: TextDocument;
  /** Somebody asked for paths. */
  readonly force: boolean;
  /** The user has moved the selection. */
  isMoved: boolean;
}

interface Request {
  readonly abort: AbortController;
  readonly force: boolean;
  /** A suggestion without others is taken at once. */
  readonly takeSingle: boolean;
}

const triggers = ["@", "#"];
/** Files are searched when nothing was typed for this time, unless the provider says otherwise. */
const defaultSearchDelayMs = 20;
/** Suggestions that are not complete are asked for again after this time. */
const askAgainMs = 50;
const defaultMaxVisible = 5;
const commandColumns = { minPrimaryColumnWidth: 12, maxPrimaryColumnWidth: 32 };

export class Completion {
  readonly #port: CompletionPort;
  readonly #theme: SelectListTheme;
  #provider: AutocompleteProvider | undefined;
  #maxVisible = defaultMaxVisible;
  #shown: Shown | undefined;
  #request: AbortController | undefined;
  /** Asks when all characters that come together are there. */
  #askLater: (() => void) | undefined;
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

  /**
   * A key is about to act on the suggestions: what was typed just before it is included. Suggestions for an older text go,
   * because taking one would mix it with what was typed since.
   */
  settle(): void {
    this.#askNow();
    if (this.#shown && !isSameText(this.#shown.document, this.#port.getDocument())) this.cancel();
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
    if (this.#shown) this.#start({ force: this.#shown.force });
    else this.#request?.abort();
  }

  /** Characters were typed or deleted: suggestions may be wanted. */
  updateAfterEdit(typed?: string): void {
    if (this.#shown || !this.#provider) return this.update();
    const before = getTextBefore(this.#port.getDocument());
    const isWanted = typed === undefined || /^\S+$/.test(typed);
    if (isWanted && (isCommand(this.#port.getDocument()) || this.#triggerWord.test(before))) this.#start();
    else this.update();
  }

  /** Tab: commands where they are written, otherwise paths. If there is only one path, it is taken. */
  ask(): void {
    const document = this.#port.getDocument();
    if (isCommand(document) && !getTextBefore(document).trimStart().includes(" "))
      return this.#start({ isAsked: true });
    const { lines, cursor } = document;
    const isAllowed = this.#provider?.shouldTriggerFileCompletion?.([...lines], cursor.line, cursor.col) ?? true;
    if (isAllowed) this.#start({ force: true, takeSingle: true, isAsked: true });
  }

  /** Starts a search. If several characters come together, only the last asks. `isAsked`: the user wants suggestions now. */
  #start({ force = false, takeSingle = false, isAsked = false } = {}): void {
    this.#request?.abort();
    const provider = this.#provider;
    if (!provider) return;
    const abort = new AbortController();
    this.#request = abort;
    const document = this.#port.getDocument();
    const run = () => this.#run(provider, document, { abort, force, takeSingle });
    const isSearch = !force && this.#triggerWord.test(getTextBefore(document));
    const delayMs = isSearch ? (provider.searchDelayMs ?? defaultSearchDelayMs) : 0;
    if (isAsked) run();
    else if (delayMs <= 0) {
      this.#askLater = run;
      queueMicrotask(() => this.#askNow());
    } else runLater(run, delayMs, abort.signal);
  }

  #askNow(): void {
    const ask = this.#askLater;
    this.#askLater = undefined;
    ask?.();
  }

  /** Asks a provider. An answer that comes at once is shown at once: keys that follow already act on it. */
  #run(provider: AutocompleteProvider, document: TextDocument, request: Request): void {
    const { signal } = request.abort;
    if (signal.aborted) return;
    const receive = (suggestions: AutocompleteSuggestions | null) => {
      if (signal.aborted || !isSameText(document, this.#port.getDocument())) return;
      this.#show(suggestions, request);
      if (!suggestions?.isIncomplete) this.#request = undefined;
      else runLater(() => this.#run(provider, document, request), askAgainMs, signal);
    };
    // A provider that fails has nothing to suggest: typing continues.
    const fail = () => receive(null);
    try {
      const answer = askProvider(provider, document, request);
      if (answer !== null && "then" in answer) void answer.then(receive, fail);
      else receive(answer);
    } catch {
      fail();
    }
  }

  #show(suggestions: AutocompleteSuggestions | null, { force, takeSingle }: Request): void {
    const [single, ...others] = suggestions?.items ?? [];
    if (!suggestions || !single) this.#shown = undefined;
    else if (takeSingle && others.length === 0 && !suggestions.isIncomplete) this.#take(single, suggestions.prefix);
    else this.#shown = this.#createShown(suggestions, force);
    this.#port.requestRender();
  }

  #createShown(suggestions: AutocompleteSuggestions, force: boolean): Shown {
    const { prefix, items } = suggestions;
    const list = this.#createList(suggestions);
    const moved = this.#shown?.isMoved && this.#shown.prefix === prefix ? this.#shown.list.getSelectedItem() : null;
    // What the user selected stays selected, wherever it is among the new ones.
    const index = moved ? items.findIndex(({ value }) => value === moved.value) : -1;
    if (index !== -1) list.setSelectedIndex(index);
    const shown = { list, prefix, document: this.#port.getDocument(), force, isMoved: index !== -1 };
    list.onSelectionChange = () => (shown.isMoved = true);
    return shown;
  }

  #createList({ items, prefix }: AutocompleteSuggestions): SelectList {
    const columns = prefix.startsWith("/") ? commandColumns : undefined;
    const maxVisible = Math.min(this.#maxVisible, this.#port.getMaxRows() - 1);
    const list = new SelectList(items, maxVisible, this.#theme, columns);
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

/** Whether two documents have the same lines and the cursor at the same place. */
const isSameText = (one: TextDocument, other: TextDocument): boolean =>
  one.lines === other.lines && isSame(one.cursor, other.cursor);

function askProvider(provider: AutocompleteProvider, { lines, cursor }: TextDocument, { abort, force }: Request) {
  if (force && provider.getForceFileSuggestions) {
    return provider.getForceFileSuggestions([...lines], cursor.line, cursor.col);
  }
  return provider.getSuggestions([...lines], cursor.line, cursor.col, { signal: abort.signal, force });
}

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

function runLater(work: () => void, afterMs: number, signal: AbortSignal): void {
  const timer = setTimeout(work, afterMs);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
}
