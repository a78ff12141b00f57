/** Completes what is being written: commands of the page and of the session, and files. */
import type { CompletionData } from "@tau/protocol";
import { GatewayClientError, type RemoteSession } from "@tau/protocol/client";
import { applyCompletion, isCommandStart, listCommandsHere, type TakenText } from "@tau/protocol/surface";
import { pageCommands } from "./slash-commands.ts";

interface CompletionItem {
  readonly value: string;
  readonly description?: string;
}

/** The completions of a text before the cursor. */
export interface Completions {
  /** The line before the cursor, for which they are. */
  readonly before: string;
  /** Where in that line they begin. */
  readonly from: number;
  readonly items: readonly CompletionItem[];
  readonly selected: number;
}

/** Where files are still being listed. */
const askAgainMs = 150;
const maxLine = 2_000;

export class Completion {
  readonly #session: RemoteSession;
  readonly #listeners = new Set<() => void>();
  #shown: Completions | undefined;
  /** Counts what was asked: a late answer is of no interest. */
  #round = 0;
  #timer = 0;

  constructor(session: RemoteSession) {
    this.#session = session;
  }

  get shown(): Completions | undefined {
    return this.#shown;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks for what completes a text at a position. What is shown stays until the answer has come. */
  ask(text: string, cursor: number): void {
    const before = getCompletable(text, cursor);
    if (before === undefined) this.close();
    else void this.#ask(before);
  }

  close(): void {
    this.#round++;
    clearTimeout(this.#timer);
    if (this.#shown) this.#set(undefined);
  }

  /** Selects the next one, or the one before. */
  move(by: 1 | -1): void {
    if (!this.#shown) return;
    const { items, selected } = this.#shown;
    this.#set({ ...this.#shown, selected: (selected + by + items.length) % items.length });
  }

  /** The text with a completion, and where the cursor is then. Undefined if the text is another one by now. */
  take(text: string, cursor: number, index = this.#shown?.selected): TakenText | undefined {
    const shown = this.#shown;
    const item = index === undefined ? undefined : shown?.items[index];
    if (!shown || !item || getCompletable(text, cursor) !== shown.before) return undefined;
    return applyCompletion(text, cursor - shown.before.length + shown.from, cursor, item.value);
  }

  async #ask(before: string): Promise<void> {
    const round = ++this.#round;
    clearTimeout(this.#timer);
    let data: CompletionData;
    try {
      data = await this.#session.call("complete", { text: before, cursor: before.length }, { isLasting: false });
    } catch (error) {
      if (!(error instanceof GatewayClientError)) throw error;
      // Without a gateway, the page's own commands are still known.
      data = { from: 1, items: [] };
    }
    if (round !== this.#round) return;
    const items = mergeItems(before, data.items);
    this.#set(items.length === 0 ? undefined : { before, from: data.from, items, selected: 0 });
    if (data.incomplete) this.#timer = window.setTimeout(() => void this.#ask(before), askAgainMs);
  }

  #set(shown: Completions | undefined): void {
    this.#shown = shown;
    for (const listener of this.#listeners) listener();
  }
}

/** The line before the cursor, if something in it may be completed. Pure. */
export function getCompletable(text: string, cursor: number): string | undefined {
  const start = text.lastIndexOf("\n", cursor - 1) + 1;
  const before = text.slice(start, cursor);
  if (before.length > maxLine) return undefined;
  const isCompletable = isCommandStart(before) ? start === 0 : before.includes("@");
  return isCompletable ? before : undefined;
}

/** The page's own commands first, and before them one that is typed whole. Pure. */
export function mergeItems(before: string, ofSession: readonly CompletionItem[]): CompletionItem[] {
  if (!isCommandStart(before)) return [...ofSession];
  const typed = before.slice(1);
  const own = listCommandsHere(pageCommands).filter(
    ({ name, yields }) => name.startsWith(typed) && !(yields && ofSession.some(({ value }) => value === name)),
  );
  const items = [
    ...own.map(({ name, description }) => ({ value: name, description })),
    ...ofSession.filter(({ value }) => own.every(({ name }) => name !== value)),
  ];
  return items.toSorted((a, b) => Number(b.value === typed) - Number(a.value === typed));
}
