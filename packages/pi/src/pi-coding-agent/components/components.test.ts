import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { emptyUsage } from "@tau/ai";
import {
  builtInThemes,
  createTheme,
  KeybindingsManager,
  stripTerminalSequences,
  Text,
  TUI,
  TUI_KEYBINDINGS,
} from "@tau/tui";
import { VirtualTerminal } from "@tau/tui/testing";
import { setTerminalLook } from "../../terminal-look.ts";
import { SessionManager } from "../session/session-manager.ts";
import type { SessionInfo } from "../session/list-sessions.ts";
import { getMarkdownTheme, highlightCode, initTheme, theme } from "../theme/theme.ts";
import { getLanguageFromPath } from "../theme/language.ts";
import { BorderedLoader } from "./bordered-loader.ts";
import { CustomEditor } from "./custom-editor.ts";
import { renderDiff } from "./diff.ts";
import { DynamicBorder } from "./dynamic-border.ts";
import { keyHint, keyText } from "./key-hints.ts";
import { CustomMessageComponent } from "./messages.ts";
import { ExtensionSelectorComponent, ThinkingSelectorComponent } from "./selectors.ts";
import { filterAndSortSessions } from "./session-search.ts";
import { SessionSelectorComponent } from "./session-selector.ts";
import { ToolExecutionComponent } from "./tool-execution.ts";
import { TreeSelectorComponent } from "./tree-selector.ts";
import { truncateToVisualLines } from "./visual-lines.ts";

const [up, down, enter, escape, ctrlU, ctrlD, ctrlL] = ["\x1b[A", "\x1b[B", "\r", "\x1b", "\x15", "\x04", "\x0c"];
const ctrlBackspace = "\x1b[127;5u";
const ctrlLeft = "\x1b[1;5D";
const ctrlRight = "\x1b[1;5C";
const plain = (component: { render(width: number): string[] }, width = 60) =>
  component.render(width).map((line) => stripTerminalSequences(line).trimEnd());
const createTui = async () => new TUI(await VirtualTerminal.create(60, 20));

beforeEach(() => {
  const dark = builtInThemes.find(({ name }) => name === "dark")!;
  setTerminalLook({ theme: createTheme(dark, "truecolor") });
});

describe("the theme", () => {
  test("is always the one in use", () => {
    const before = theme.fg("accent", "x");
    initTheme("light");
    expect(theme.name).toBe("light");
    expect(theme.fg("accent", "x")).not.toBe(before);
    initTheme("no such theme");
    expect(theme.name).toBe("light");
    expect(stripTerminalSequences(getMarkdownTheme().heading("Title"))).toBe("Title");
  });

  test("code is highlighted by the terminal that can", () => {
    expect(highlightCode("a\nb", "ts").map(stripTerminalSequences)).toEqual(["a", "b"]);
    setTerminalLook({
      theme: createTheme(builtInThemes[0]!, "none"),
      highlightCode: (code, language) => [`${language}:${code}`],
    });
    expect(highlightCode("x", "ts")).toEqual(["ts:x"]);
    expect([getLanguageFromPath("/a/b.tsx"), getLanguageFromPath("Dockerfile"), getLanguageFromPath("x")]).toEqual([
      "typescript",
      "dockerfile",
      undefined,
    ]);
  });
});

test("small components draw what they are given", () => {
  expect(plain(new DynamicBorder(), 5)).toEqual(["─────"]);
  expect(stripTerminalSequences(renderDiff("+1 a\n-1 b\n 2 c"))).toBe("+1 a\n-1 b\n 2 c");
  expect(keyText("tui.select.confirm")).toBe("enter");
  expect(stripTerminalSequences(keyHint("selectConfirm", "choose"))).toBe("enter choose");
  expect(truncateToVisualLines("a\nb\nc", 2, 10)).toMatchObject({ skippedCount: 1 });
  const message = { role: "custom" as const, customType: "note", content: "hello", display: true, timestamp: 1 };
  expect(plain(new CustomMessageComponent(message)).join("\n")).toContain("[note]");
  expect(plain(new CustomMessageComponent(message, () => new Text("mine", 0, 0))).join("\n")).toContain("mine");
});

test("a loader is cancelled by the key for it", async () => {
  const loader = new BorderedLoader(await createTui(), theme, "Working");
  let isAborted = false;
  loader.onAbort = () => (isAborted = true);
  loader.handleInput(escape);
  loader.dispose();
  expect([isAborted, loader.signal.aborted]).toEqual([true, true]);
});

test("an editor of an extension lets the keys of the program through first", async () => {
  const keybindings = new KeybindingsManager({
    ...TUI_KEYBINDINGS,
    "app.interrupt": { defaultKeys: "escape" },
    "app.exit": { defaultKeys: "ctrl+d" },
    "app.model.select": { defaultKeys: "ctrl+l" },
  });
  const select = {
    selectedPrefix: String,
    selectedText: String,
    description: String,
    scrollInfo: String,
    noMatch: String,
  };
  const editor = new CustomEditor(await createTui(), { borderColor: String, selectList: select }, keybindings);
  const seen: string[] = [];
  editor.onEscape = () => seen.push("escape");
  editor.onCtrlD = () => seen.push("exit");
  editor.onAction("app.model.select", () => seen.push("model"));
  editor.onExtensionShortcut = (data) => data === "\x07";
  for (const key of [escape, ctrlL, ctrlD, "h", "i", ctrlD, "\x07"]) editor.handleInput(key);
  expect(seen).toEqual(["escape", "model", "exit"]);
  expect(editor.getText()).toBe("hi");
});

test("a tool draws its own call and result, and a renderer that fails says so", async () => {
  const definition = {
    renderCall: (args: { path: string }) => new Text(`reading ${args.path}`, 0, 0),
    renderResult: () => {
      throw new Error("broken");
    },
  };
  const component = new ToolExecutionComponent(
    "read",
    "id-1",
    { path: "a.ts" },
    {},
    definition,
    await createTui(),
    "/",
  );
  expect(plain(component).join("\n")).toContain("reading a.ts");
  component.updateResult({ content: [{ type: "text", text: "x" }], isError: false });
  expect(plain(component).join("\n")).toContain("renderResult failed: broken");
  const old = new ToolExecutionComponent("bash", { command: "ls" }, {}, undefined, await createTui());
  old.updateResult({
    content: [{ type: "text", text: Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n") }],
    isError: false,
  });
  expect(plain(old).join("\n")).toContain("20 earlier lines");
  old.setExpanded(true);
  expect(plain(old).join("\n")).toContain("line 0");
});

test("a list is answered with what is selected, or cancelled", () => {
  const answers: string[] = [];
  const dialog = new ExtensionSelectorComponent(
    "Which?",
    ["a", "b"],
    (value) => answers.push(value),
    () => answers.push("cancelled"),
  );
  dialog.handleInput(down);
  dialog.handleInput(enter);
  dialog.handleInput(escape);
  expect(answers).toEqual(["b", "cancelled"]);
  const levels = new ThinkingSelectorComponent(
    "high",
    ["off", "high"],
    () => {},
    () => {},
  );
  expect(levels.getSelectList().getSelectedItem()?.value).toBe("high");
});

describe("the tree", () => {
  function createTree() {
    const session = SessionManager.inMemory();
    const user = (text: string) => session.appendMessage({ role: "user", content: text, timestamp: 1 });
    const answer = (text: string) =>
      session.appendMessage({
        role: "assistant",
        content: [{ type: "text", text }],
        api: "a",
        provider: "p",
        model: "m",
        usage: emptyUsage(),
        stopReason: "stop",
        timestamp: 2,
      });
    const first = user("first question");
    const one = answer("one answer");
    session.branch(first);
    const other = answer("other answer");
    const last = user("last question");
    session.appendModelChange("p", "m2");
    return { session, ids: { first, one, other, last } };
  }

  test("begins at the entry above a leaf that is hidden, and shows the active branch first", () => {
    const { session, ids } = createTree();
    const selector = new TreeSelectorComponent(
      session.getTree(),
      session.getLeafId(),
      20,
      () => {},
      () => {},
    );
    const list = selector.getTreeList();
    expect(list.getSelectedNode()?.entry.id).toBe(ids.last);
    const lines = plain(selector);
    expect(lines.findIndex((line) => line.includes("other answer"))).toBeLessThan(
      lines.findIndex((line) => line.includes("one answer")),
    );
    selector.handleInput(up);
    expect(list.getSelectedNode()?.entry.id).toBe(ids.other);
    selector.handleInput(ctrlU);
    expect(list.getSelectedNode()?.entry.id).toBe(ids.first);
    selector.handleInput(ctrlU);
    expect(list.getSelectedNode()?.entry.id).toBe(ids.first);
    // Nothing has a label.
    selector.handleInput(ctrlL);
    expect(list.getSelectedNode()).toBeUndefined();
    selector.handleInput(ctrlL);
    expect(list.getSelectedNode()?.entry.id).toBe(ids.first);
  });

  test("is folded, and walked by its parts", () => {
    const { session, ids } = createTree();
    const selector = new TreeSelectorComponent(
      session.getTree(),
      session.getLeafId(),
      20,
      () => {},
      () => {},
    );
    const press = (key: string) => {
      selector.handleInput(key);
      return selector.getTreeList().getSelectedNode()?.entry.id;
    };
    expect([press(ctrlLeft), press(ctrlLeft)]).toEqual([ids.other, ids.other]);
    expect(plain(selector).join("\n")).not.toContain("last question");
    expect([press(down), press(ctrlRight), press(up)]).toEqual([ids.one, ids.one, ids.other]);
    expect([press(ctrlLeft), press(ctrlRight)]).toEqual([ids.first, ids.other]);
    expect([press(ctrlRight), press(ctrlRight)]).toEqual([ids.other, ids.last]);
    expect([press(ctrlLeft), press(ctrlLeft), press(ctrlLeft), press(ctrlLeft)]).toEqual([
      ids.other,
      ids.other,
      ids.first,
      ids.first,
    ]);
    expect(plain(selector).join("\n")).toMatch(/⊞ • user: first question[^]*\(1\/1\)/);
    for (const key of "last") selector.handleInput(key);
    expect(plain(selector).join("\n")).toContain("last question");
  });

  test("is searched by typing, answered by enter, and labelled", () => {
    const { session, ids } = createTree();
    const answers: string[] = [];
    const labels: unknown[] = [];
    const selector = new TreeSelectorComponent(
      session.getTree(),
      session.getLeafId(),
      20,
      (id) => answers.push(id),
      () => answers.push("cancelled"),
      (id, label) => labels.push([id, label]),
    );
    for (const key of "one") selector.handleInput(key);
    selector.handleInput(enter);
    selector.handleInput(escape);
    expect(selector.getTreeList().getSearchQuery()).toBe("");
    selector.handleInput(escape);
    expect(answers).toEqual([ids.one, "cancelled"]);
    for (const key of ["L", "h", "i", enter]) selector.handleInput(key);
    expect(labels).toHaveLength(1);
    selector.handleInput(ctrlL);
    expect(plain(selector).join("\n")).toContain("[hi]");
  });
});

describe("sessions", () => {
  const info = (id: string, more: Partial<SessionInfo> = {}): SessionInfo => ({
    path: `/${id}.jsonl`,
    id,
    cwd: "/work",
    created: new Date(1),
    modified: new Date(1),
    messageCount: 1,
    firstMessage: id,
    allMessagesText: id,
    ...more,
  });

  test("are found by words, phrases and regular expressions", () => {
    const sessions = [
      info("a", { allMessagesText: "deploy the server" }),
      info("b", { allMessagesText: "server deploy", name: "mine" }),
    ];
    const find = (query: string, filter?: "named") =>
      filterAndSortSessions(sessions, query, "recent", filter).map(({ id }) => id);
    expect(find("deploy server")).toEqual(["a", "b"]);
    expect(find('"server deploy"')).toEqual(["b"]);
    expect(find("re:^a.*the")).toEqual(["a"]);
    expect(find("re:(")).toEqual([]);
    expect(find("", "named")).toEqual(["b"]);
  });

  test("one is chosen, and deleted only after it was confirmed", async () => {
    const directory = mkdtempSync(join(tmpdir(), "pi-selector-"));
    const path = join(directory, "a.jsonl");
    writeFileSync(path, "");
    const chosen: string[] = [];
    const load = async () => (existsSync(path) ? [info("a", { path }), info("b")] : [info("b")]);
    const selector = new SessionSelectorComponent(
      load,
      load,
      (value) => chosen.push(value),
      () => {},
      () => {},
      () => {},
    );
    await expect.poll(() => selector.getSessionList().getSelectedSessionPath()).toBe(path);
    selector.handleInput(ctrlD);
    selector.handleInput(escape);
    expect(existsSync(path)).toBe(true);
    selector.handleInput(ctrlD);
    expect(plain(selector).join("\n")).toContain("Delete session?");
    selector.handleInput(enter);
    await expect.poll(() => selector.getSessionList().getSelectedSessionPath()).toBe("/b.jsonl");
    expect(existsSync(path)).toBe(false);
    selector.handleInput(enter);
    expect(chosen).toEqual(["/b.jsonl"]);
    rmSync(directory, { recursive: true });
  });

  const open = (current: () => Promise<SessionInfo[]>, all = current, options = {}) => {
    const ignore = () => {};
    return new SessionSelectorComponent(current, all, ignore, ignore, ignore, ignore, options);
  };

  test("Ctrl+Backspace asks to delete only if nothing is searched", async () => {
    const selector = open(async () => [info("a"), info("b")]);
    await expect.poll(() => selector.getSessionList().getSelectedSessionPath()).toBe("/a.jsonl");
    selector.handleInput("b");
    selector.handleInput(ctrlBackspace);
    expect(plain(selector).join("\n")).not.toContain("Delete session?");
    selector.handleInput("\x7f");
    selector.handleInput(ctrlBackspace);
    expect(plain(selector).join("\n")).toContain("Delete session?");
  });

  test("a scope that is shown again waits for its load in progress", async () => {
    let finish = (_sessions: SessionInfo[]) => {};
    let loads = 0;
    const all = () => {
      loads++;
      return new Promise<SessionInfo[]>((resolve) => (finish = resolve));
    };
    const selector = open(async () => [info("a")], all);
    const list = selector.getSessionList();
    await expect.poll(() => list.getSelectedSessionPath()).toBe("/a.jsonl");
    for (let count = 0; count < 3; count++) selector.handleInput("\t");
    finish([info("b")]);
    await expect.poll(() => list.getSelectedSessionPath()).toBe("/b.jsonl");
    expect(loads).toBe(1);
    selector.handleInput("\t");
    await expect.poll(() => list.getSelectedSessionPath()).toBe("/a.jsonl");
    selector.handleInput("\t");
    expect(loads).toBe(2);
  });

  test("the key for a new name is shown where sessions can be renamed", () => {
    const load = async () => [];
    const getText = (options: object) => plain(open(load, load, options), 100).join("\n");
    expect(getText({})).toContain("ctrl+d delete");
    expect(getText({})).not.toContain("rename");
    expect(getText({ renameSession: async () => {} })).toContain("ctrl+r rename");
    expect(getText({ showRenameHint: true })).toContain("ctrl+r rename");
    expect(getText({ renameSession: async () => {}, showRenameHint: false })).not.toContain("rename");
  });
});
