/** A question of the policy. Everything that would happen is shown, and allowing takes a deliberate choice. */
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import {
  findChoiceIndex,
  formatTimeLeft,
  getTimeLeftMs,
  listCommandLines,
  toAllowAnswer,
  toDenyAnswer,
} from "@tau/protocol/surface";
import {
  Container,
  getKeybindings,
  getSelectListTheme,
  Input,
  type SelectItem,
  SelectList,
  Spacer,
  Text,
  type Theme,
  toVisibleText,
  truncateToWidth,
  type TuiMouseEvent,
} from "@tau/tui";
import { LiveLines } from "../live-lines.ts";
import { Excerpt } from "./excerpt.ts";

/**
 * Keys and clicks for something else do not count: those before the question was drawn, and this long after it. Letters and
 * digits that follow each other faster are a text that is being typed.
 */
const ignoreInputMs = 400;

/** Below the question. */
const statusRows = 2;
/** A line of the question, and the note which says that there are more. */
const minQuestionRows = 2;
/** An answer, and the note which says that there are more. */
const minListRows = 2;
/** More answers than these are shown only if this much remains for the question. */
const usualListItems = 3;
const usualQuestionRows = 5;

interface ApprovalOptions {
  approval: Approval;
  theme: Theme;
  /** How many more questions wait behind this one. */
  others: number;
  /** How many rows the terminal has. */
  getRows: () => number;
  now: () => number;
  onAnswer: (answer: ApprovalAnswer) => void;
  /** The question stays open, and the call waits. */
  onLater: () => void;
  /** The run that asks is stopped. */
  onStop: () => void;
}

export class ApprovalDialog extends Container {
  readonly #options: ApprovalOptions;
  readonly #choices: SelectItem[];
  readonly #question: Excerpt;
  readonly #message = new Input();
  #list: SelectList;
  /** For which the list is. */
  #rows: number;
  #drawnAt: number | undefined;
  /** When the last letter or digit was typed. */
  #typedAt = -Infinity;
  #isWriting = false;

  constructor(options: ApprovalOptions) {
    super();
    this.#options = options;
    const { theme, approval, getRows } = options;
    this.#choices = listChoices(approval);
    this.#rows = getRows();
    this.#list = this.#createList();
    const content = new Text(describe(approval, theme), 1, 0);
    const getMaxRows = () => shareRows(getRows(), this.#choices.length).questionRows;
    this.#question = new Excerpt({ content, theme, getMaxRows });
    this.#message.onSubmit = (text) => options.onAnswer(toDenyAnswer(text));
    this.#message.onEscape = () => this.#setWriting(false);
    this.#setWriting(false);
  }

  get focused(): boolean {
    return this.#message.focused;
  }

  set focused(focused: boolean) {
    this.#message.focused = focused && this.#isWriting;
    if (!focused) return;
    // Another dialog may have covered it, and have had the keys.
    this.#drawnAt = undefined;
    // Enter alone never allows.
    this.#list.setSelectedIndex(0);
  }

  /** If it does not need them, they scroll the conversation that it is about. */
  get wantsPageKeys(): boolean {
    return this.#question.isCut;
  }

  override render(width: number): string[] {
    this.#drawnAt ??= this.#options.now();
    if (this.#options.getRows() !== this.#rows) this.#resize();
    return super.render(width);
  }

  handleInput(data: string): void {
    const isTyping = this.#noteTyping(data);
    if (!this.#takesInput) return;
    if (this.#question.handleKey(data)) return;
    if (this.#isWriting) this.#message.handleInput(data);
    else if (getKeybindings().matches(data, "app.interrupt")) this.#options.onStop();
    else if (isTyping || !this.#chooseByKey(data)) this.#list.handleInput(data);
  }

  /** Whether the key stands for an answer: y, n, or the number of a choice. */
  #chooseByKey(data: string): boolean {
    const value = getValueByKey(data, this.#options.approval.choices);
    if (value !== undefined) this.#choose(value);
    return value !== undefined;
  }

  override handleMouse(event: TuiMouseEvent): ReturnType<Container["handleMouse"]> {
    return this.#takesInput ? super.handleMouse(event) : undefined;
  }

  get #takesInput(): boolean {
    return this.#drawnAt !== undefined && this.#options.now() - this.#drawnAt >= ignoreInputMs;
  }

  /** Whether a character came so soon after another one that both belong to a text. */
  #noteTyping(data: string): boolean {
    if (!/^[\p{L}\p{N}\p{P}\p{Z}]$/u.test(data)) return false;
    const before = this.#typedAt;
    this.#typedAt = this.#options.now();
    return this.#typedAt - before < ignoreInputMs;
  }

  #createList(): SelectList {
    const { maxItems } = shareRows(this.#rows, this.#choices.length);
    const list = new SelectList(this.#choices, maxItems, getSelectListTheme(this.#options.theme));
    list.onSelect = ({ value }) => this.#choose(value);
    list.onCancel = () => this.#options.onStop();
    return list;
  }

  #resize(): void {
    const selected = this.#list.getSelectedItem();
    this.#rows = this.#options.getRows();
    this.#list = this.#createList();
    this.#list.setSelectedIndex(this.#choices.findIndex((item) => item === selected));
    this.#setWriting(this.#isWriting);
  }

  #choose(value: string): void {
    if (value === "no") this.#options.onAnswer(toDenyAnswer(""));
    else if (value === "message") this.#setWriting(true);
    else if (value === "later") this.#options.onLater();
    else this.#options.onAnswer(toAllowAnswer(this.#options.approval.choices[Number(value)]!));
  }

  /** Draws one line, whatever the width is: the rows below are counted. */
  #drawTitle(width: number): string {
    const { theme, others, approval } = this.#options;
    const leftMs = getTimeLeftMs(approval, Date.now());
    const notes = [
      ...(others > 0 ? [`${others} more waiting`] : []),
      ...(leftMs === undefined ? [] : [formatTimeLeft(leftMs)]),
      `${getKeybindings().getKeys("app.interrupt").join(", ")} stops the run`,
    ];
    const title = ` ${theme.fg("warning", theme.bold("Allow this?"))}${theme.fg("dim", ` (${notes.join(", ")})`)}`;
    return truncateToWidth(title, width, "…");
  }

  #setWriting(isWriting: boolean): void {
    this.#isWriting = isWriting;
    this.#message.focused = isWriting;
    const { theme } = this.#options;
    this.children = [
      new Spacer(1),
      new LiveLines((width) => [this.#drawTitle(width)]),
      this.#question,
      ...(isWriting ? [new Text(theme.fg("muted", "No, because:"), 1, 0), this.#message] : [this.#list]),
    ];
  }
}

/** Besides y and the numbers of the choices. */
const otherKeys: Readonly<Record<string, string>> = { n: "no", t: "message", l: "later" };

/** The value of the item that a key stands for. */
function getValueByKey(data: string, choices: Approval["choices"]): string | undefined {
  const index = findChoiceIndex(data, choices);
  return otherKeys[data] ?? (index === undefined ? undefined : String(index));
}

/** How many items of the list are shown, and how many rows there are for the question. */
function shareRows(rows: number, choices: number): { maxItems: number; questionRows: number } {
  const free = rows - statusRows;
  // What is higher than the screen is cut at its top: the empty line first, and then the title.
  const titleRows = free > minQuestionRows + minListRows ? 1 : 0;
  const wanted = Math.max(usualListItems, free - titleRows - usualQuestionRows);
  const room = free - titleRows - minQuestionRows - 1;
  const maxItems = Math.max(1, Math.min(choices, wanted, room));
  const listRows = maxItems < choices ? maxItems + 1 : choices;
  return { maxItems, questionRows: Math.max(minQuestionRows, free - titleRows - listRows) };
}

const later = { value: "later", label: "l  Answer later", description: "/approve comes back to it" };

/** The refusals come first, so that the selected item is one. */
function listChoices({ choices }: Approval): SelectItem[] {
  const allowing = choices.map(({ label }, index) => ({
    value: String(index),
    label: `${index < 9 ? index + 1 : " "}  ${toVisibleText(label)}`,
  }));
  return [
    { value: "no", label: "n  No" },
    { value: "message", label: "t  No, and tell the model why" },
    ...allowing,
    later,
  ];
}

function describe({ toolName, summary, reason, commands, path, host }: Approval, theme: Theme): string {
  const lines = [
    theme.fg("toolTitle", theme.bold(toVisibleText(summary))) + theme.fg("dim", ` (${toVisibleText(toolName)})`),
    ...listCommandLines(commands ?? []).map((line) => theme.fg("accent", `  ${toVisibleText(line)}`)),
    ...(path === undefined ? [] : [theme.fg("accent", `  ${toVisibleText(path)}`)]),
    ...(host === undefined ? [] : [theme.fg("accent", `  ${toVisibleText(host)}`)]),
    theme.fg("muted", toVisibleText(reason)),
  ];
  return lines.join("\n");
}
