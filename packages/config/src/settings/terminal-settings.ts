/** The settings of the interactive terminal. Names and defaults are pi's, but for `tuiMode` and `terminal.notifications`. */
import type { Field } from "../fields/field.ts";
import { between, flag, nonEmptyText, object, oneOf, optional, scalar, text, wholeNumber } from "../fields/kinds.ts";
import { group, setting } from "./node.ts";
import { paths } from "./shape.ts";

/** A switch that may also be a word. */
const flagOr = <const T extends string>(...words: readonly T[]): Field<boolean | T> =>
  choices([true, false, ...words] as const);

const choices = <const T extends string | number | boolean>(values: readonly T[]): Field<T> =>
  scalar({
    expected: values.map(String),
    type: values.map((value) => JSON.stringify(value)).join(" | "),
    schema: { enum: values },
    accepts: (value): value is T => values.some((known) => known === value),
  });

const lines = between(1, 100, "lines");

const linesOrAuto: Field<number | "auto"> = scalar({
  expected: '"auto", or a whole number of lines from 1 to 100',
  type: '"auto" | number',
  schema: { anyOf: [{ const: "auto" }, lines.schema] },
  accepts: (value): value is number | "auto" =>
    value === "auto" || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100),
});

const statusCommand = object({
  type: optional(oneOf("command")),
  command: nonEmptyText,
  padding: optional(between(0, 10, "columns")),
});

type StatusLine = string | { readonly type?: "command"; readonly command: string; readonly padding?: number };

const statusLine: Field<StatusLine> = {
  type: `string | ${statusCommand.type}`,
  schema: { anyOf: [nonEmptyText.schema, statusCommand.schema] },
  read: (value, context) =>
    typeof value === "string" ? nonEmptyText.read(value, context) : statusCommand.read(value, context),
};

export const terminalSettings = {
  statusLine: setting(statusLine, {
    default: undefined,
    description:
      'What stands below the editor instead of the usual lines: a template such as `{directory}[ ({branch})] {model}`, or `{ "command": … }`, which gets JSON on its standard input and prints at most three lines. See tau help terminal.',
    project: "never",
  }),
  notify: setting(nonEmptyText, {
    default: undefined,
    description:
      "A command that runs when a long run has ended or a call waits for you, with JSON on its standard input. It runs with your rights, outside the sandbox.",
    project: "never",
  }),
  theme: setting(nonEmptyText, {
    default: "system",
    description:
      "The color theme: the name of one, or `light/dark` with one for each kind of terminal. `system` is made from the terminal's own colors; `dark`, `light` and `high-contrast` are built in.",
  }),
  themes: setting(paths, {
    default: [],
    description:
      "More themes: files or directories, relative to the directory of this file. Of all that are found, `!glob` leaves some out, `+path` includes one in spite of that, and `-path` leaves one out.",
    project: "when trusted",
  }),
  quietStartup: setting(flagOr("header"), {
    default: false,
    description: "Show nothing above the conversation at the start; `header` shows the line with the version only.",
  }),
  showCacheMissNotices: setting(flag, {
    default: false,
    description:
      "Report it when much of the conversation was not in the provider's cache any more, and why, as far as that is known.",
  }),
  hideThinkingBlock: setting(flag, { default: false, description: "Fold the model's thinking." }),
  doubleEscapeAction: setting(oneOf("tree", "fork", "none"), {
    default: "tree",
    description: "What Escape does when it is pressed twice while nothing is typed: open the tree, fork, or nothing.",
  }),
  promptHistory: setting(flag, {
    default: true,
    description:
      "Keep prompts without secrets in `history.jsonl` of tau's directory, so that Up and Ctrl-R find them in later sessions.",
  }),
  treeFilterMode: setting(oneOf("default", "no-tools", "user-only", "labeled-only", "all"), {
    default: "default",
    description: "The entries that `/tree` shows at first.",
  }),
  externalEditor: setting(nonEmptyText, {
    default: undefined,
    description:
      "The command of the editor that Ctrl-G opens, with its arguments. Default: `$VISUAL`, else `$EDITOR`, else `nano` (on Windows `notepad`).",
    project: "when trusted",
  }),
  editorMode: setting(choices(["default", "vim"]), {
    default: "default",
    description: "The keys of the editor: `vim` gives it insert, normal and visual mode. See tau help terminal.",
  }),
  editorPaddingX: setting(between(0, 3, "columns"), {
    default: 0,
    description: "Blank columns at the sides of the editor.",
  }),
  outputPad: setting(choices([0, 1]), {
    default: 1,
    description: "Blank columns at the sides of messages.",
  }),
  autocompleteMaxVisible: setting(between(3, 20, "suggestions"), {
    default: 5,
    description: "How many suggestions are visible at once.",
  }),
  showHardwareCursor: setting(flag, {
    default: false,
    description: "Show the terminal's own cursor. The variable `TAU_HARDWARE_CURSOR=1` does so too.",
  }),
  terminal: group("What is shown on the terminal, and what it can do.", {
    showImages: setting(flag, {
      default: true,
      description: "Show images of the conversation, where the terminal can; otherwise they are named.",
    }),
    imageWidthCells: setting(wholeNumber({ min: 1, unit: "columns" }), {
      default: 60,
      description: "How wide images are shown at most, in columns.",
    }),
    showTitle: setting(flag, {
      default: true,
      description: "Show the name of the session and its directory in the title of the terminal.",
    }),
    showTerminalProgress: setting(flag, {
      default: false,
      description: "Show in the tab or the task bar of the terminal that a run is in progress (OSC 9;4).",
    }),
    notifications: setting(oneOf("off", "bell", "osc9", "osc777"), {
      default: "bell",
      description:
        "How you are notified that a call waits for your answer, or that a run of more than 10 seconds has ended while the terminal did not have the focus (or does not report it): by the bell, by a notification in one of the two forms that terminals know, or not at all.",
    }),
    hyperlinks: setting(flagOr("auto"), {
      default: "auto",
      description:
        "Whether the terminal shows links; `auto` looks at the variable `TAU_HYPERLINKS` (1 or 0), then at the terminal.",
    }),
    images: setting(choices(["kitty", "iterm2", "auto", false]), {
      default: "auto",
      description:
        "How the terminal shows images; `auto` looks at the variable `TAU_IMAGE_PROTOCOL` (kitty, iterm2 or none), then at the terminal.",
    }),
    trueColor: setting(flagOr("auto"), {
      default: "auto",
      description:
        "Whether the terminal shows 24 bits of color; `auto` looks at the variable `TAU_TRUE_COLOR` (1 or 0), then at the terminal.",
    }),
  }),
  markdown: group("How Markdown is shown.", {
    codeBlockIndent: setting(text, { default: "  ", description: "What is put before each line of code." }),
    mermaid: setting(oneOf("off", "final", "streaming"), {
      default: "streaming",
      description:
        "When a diagram of Mermaid is drawn, if it fits: `streaming` while it arrives, `final` once it is complete.",
    }),
  }),
  branchSummary: group("Summaries of branches that are left.", {
    reserveTokens: setting(wholeNumber({ min: 0, unit: "tokens" }), {
      default: 16_384,
      description: "Tokens of the context window that the summary may use; the rest is for the branch.",
    }),
    skipPrompt: setting(flag, {
      default: false,
      description: "Do not ask whether a branch is summarised when it is left; none is.",
    }),
  }),
  collapseChangelog: setting(flag, {
    default: false,
    description:
      "After an update of tau or of packages, print only that there is something new instead of listing the changes.",
  }),
  tuiMode: setting(oneOf("regular", "fullscreen"), {
    default: "regular",
    description: "Whether the terminal's own scrollback is used, or the whole screen.",
  }),
  fullscreenExitOutput: setting(oneOf("transcript", "resume-hint"), {
    default: "transcript",
    description: "What is printed when a full screen is left.",
  }),
  fullscreenScrollbar: setting(oneOf("auto", "always", "hidden"), {
    default: "auto",
    description: "When a full screen shows a scrollbar.",
  }),
  fullscreenCopyOnSelect: setting(flag, {
    default: true,
    description: "Copy what is selected in a full screen at once.",
  }),
  fullscreenWheelScrollLines: setting(linesOrAuto, {
    default: "auto",
    description: "How many lines the wheel of the mouse scrolls in a full screen.",
  }),
};
