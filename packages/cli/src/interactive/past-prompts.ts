/** The prompts of earlier sessions: Up shows them, and a search finds them. */
import { getErrorMessage } from "@tau/ai/internal";
import { formatAge } from "@tau/protocol/surface";
import { type SelectItem, toPlainLine } from "@tau/tui";
import type { PastPrompt, PromptHistory } from "../terminal/prompt-history.ts";
import type { Interface } from "./interface.ts";
import type { EditorSlot } from "./editor-slot.ts";

interface PastPromptsOptions extends Pick<Interface, "choose" | "say"> {
  history: PromptHistory;
  editor: EditorSlot;
  /** Whether prompts are kept. */
  isOn: () => boolean;
  /** The directory of the session. */
  getCwd: () => string;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** The editor keeps no more. */
const maxForEditor = 100;

export class PastPrompts {
  readonly #options: PastPromptsOptions;
  /** Sent before those of earlier sessions were read. */
  #early: string[] | undefined = [];
  #hasFailed = false;

  constructor(options: PastPromptsOptions) {
    this.#options = options;
  }

  /** Gives the editor the prompts of earlier sessions. */
  async load(): Promise<void> {
    const { history, editor, isOn, getCwd } = this.#options;
    try {
      const prompts = isOn() ? sortForDirectory(await history.list(), getCwd()).slice(-maxForEditor) : [];
      // Those that were sent meanwhile are the latest.
      for (const text of [...prompts.map((prompt) => prompt.text), ...(this.#early ?? [])]) editor.addToHistory(text);
    } catch (error) {
      this.#report(`The prompts of earlier sessions cannot be read: ${getErrorMessage(error)}`);
    }
    this.#early = undefined;
  }

  /** Keeps a prompt that is sent. Nobody waits for the disk. */
  add(text: string): void {
    const { history, editor, isOn, getCwd } = this.#options;
    editor.addToHistory(text);
    this.#early?.push(text);
    if (!isOn()) return;
    void history
      .append(text, getCwd())
      .catch((error: unknown) => this.#report(`The prompt is not kept for later: ${getErrorMessage(error)}`));
  }

  /** Lets the user choose one, which replaces what is in the editor. */
  async search(): Promise<void> {
    const { history, editor, choose, say, isOn, getCwd, now } = this.#options;
    if (!isOn()) return say("Prompts are not kept: the setting promptHistory is false.");
    const prompts = sortForDirectory(await history.list(), getCwd()).toReversed();
    if (prompts.length === 0) return say("There are no earlier prompts.");
    const typed = editor.getExpandedText();
    const items = listChoices(prompts, getCwd(), now());
    const chosen = await choose("Earlier prompts", items, typed.includes("\n") ? {} : { search: typed });
    if (chosen !== undefined) editor.setText(chosen);
  }

  /** Once: a disk that refuses one prompt refuses all. */
  #report(message: string): void {
    if (!this.#hasFailed) this.#options.say(message, "warning");
    this.#hasFailed = true;
  }
}

/** Puts those of other directories first, so that the latest ones of this directory are the first that are shown. Pure. */
const sortForDirectory = (prompts: readonly PastPrompt[], cwd: string): readonly PastPrompt[] => [
  ...prompts.filter((prompt) => prompt.cwd !== cwd),
  ...prompts.filter((prompt) => prompt.cwd === cwd),
];

/** Each text once. Pure. */
function listChoices(prompts: readonly PastPrompt[], cwd: string, now: number): SelectItem[] {
  const latest = new Map<string, PastPrompt>();
  for (const prompt of prompts) if (!latest.has(prompt.text)) latest.set(prompt.text, prompt);
  return [...latest.values()].map((prompt) => ({
    value: prompt.text,
    label: toPlainLine(prompt.text),
    description: [formatAge(prompt.at, now), prompt.cwd === cwd ? "" : toPlainLine(prompt.cwd)]
      .filter(Boolean)
      .join("  "),
  }));
}
