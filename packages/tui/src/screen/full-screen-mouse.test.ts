import { afterEach, describe, expect, test, vi } from "vitest";
import { Container } from "../components/container.ts";
import { ScrollView } from "../components/scroll-view.ts";
import { SelectList } from "../components/select-list.ts";
import { SettingsList } from "../components/settings-list.ts";
import { Text } from "../components/text.ts";
import { VirtualTerminal } from "../testing/index.ts";
import { TuiAltScreen, type TuiAltScreenOptions } from "./tui-alt-screen.ts";

const running: TuiAltScreen[] = [];
afterEach(() => {
  for (const tui of running.splice(0)) tui.stop();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

async function open(columns: number, rows: number, options: TuiAltScreenOptions = {}) {
  const terminal = await VirtualTerminal.create(columns, rows);
  const tui = new TuiAltScreen(terminal, false, undefined, options);
  running.push(tui);
  return { terminal, tui };
}

async function openText(text: string, options: TuiAltScreenOptions = {}) {
  const lines = text.split("\n").length;
  const stage = await open(20, lines, options);
  stage.tui.addChild(new Text(text, 0, 0));
  stage.tui.start();
  stage.tui.renderNow();
  return stage;
}

type Stage = Awaited<ReturnType<typeof open>>;

/** Builds the report of a terminal; places are counted from 0. */
const mouse = (code: number, x: number, y: number, end = "M") => `\x1b[<${code};${x + 1};${y + 1}${end}`;
const [focusIn, focusOut] = ["\x1b[I", "\x1b[O"];

function send({ terminal, tui }: Stage, ...inputs: string[]): void {
  for (const input of inputs) {
    terminal.sendInput(input);
    tui.renderNow();
  }
}

const click = (x: number, y: number) => [mouse(0, x, y), mouse(0, x, y, "m")];
const getCopied = ({ terminal }: Stage) =>
  terminal.writes.flatMap((bytes) =>
    [...bytes.matchAll(/\x1b\]52;c;([^\x07]*)\x07/g)].map(([, data]) => Buffer.from(data ?? "", "base64").toString()),
  );

describe("the mouse is asked for", () => {
  const getModes = async (env: Record<string, string>) => {
    for (const name of ["TMUX", "ZELLIJ", "STY", "TERM"]) vi.stubEnv(name, env[name]);
    const stage = await openText("text");
    return [1002, 1003, 1004, 1006].filter((mode) => stage.terminal.writes.join("").includes(`\x1b[?${mode}h`));
  };

  test("with every move, and with the focus of the window", async () => {
    expect(await getModes({ TERM: "xterm-256color" })).toEqual([1002, 1003, 1004, 1006]);
  });

  test.each([
    { TMUX: "/tmp/tmux/default,1,0" },
    { TERM: "tmux-256color" },
    { ZELLIJ: "0" },
    { STY: "1.a" },
    { TERM: "screen" },
  ])("without moves in a multiplexer: %j", async (env) => {
    expect(await getModes(env)).toEqual([1002, 1004, 1006]);
  });
});

describe("a selection", () => {
  test("takes whole characters, from either side", async () => {
    const stage = await openText("A界🙂e\u0301Z");
    send(stage, mouse(0, 2, 0), mouse(32, 3, 0), mouse(0, 3, 0, "m"));
    send(stage, mouse(0, 4, 0), mouse(32, 1, 0), mouse(0, 1, 0, "m"));
    send(stage, mouse(0, 5, 0), mouse(32, 6, 0), mouse(0, 6, 0, "m"));
    expect(getCopied(stage)).toEqual(["界🙂", "界🙂", "e\u0301Z"]);
  });

  test("is a word after two clicks anywhere on it, and its line after three", async () => {
    const stage = await openText("zero alpha beta\ngamma delta");
    send(stage, ...click(5, 0), ...click(9, 0));
    send(stage, ...click(6, 1), ...click(8, 1), ...click(10, 1));
    expect(getCopied(stage)).toEqual(["alpha", "delta", "gamma delta"]);
    send(stage, ...click(0, 1), ...click(10, 1));
    expect(getCopied(stage)).toHaveLength(3);
  });

  test("by words takes all of the blanks that it reaches", async () => {
    const stage = await openText("foo   bar");
    send(stage, ...click(0, 0), mouse(0, 1, 0), mouse(32, 4, 0));
    await stage.terminal.flush();
    const reversed = Array.from({ length: 9 }, (_unused, x) => stage.terminal.getCell(x, 0)?.isInverse() !== 0);
    expect(reversed).toEqual([true, true, true, true, true, true, false, false, false]);
  });

  test("that is being made ends when the window loses the focus, and a later release copies nothing", async () => {
    const stage = await openText("alpha\nbeta");
    send(stage, mouse(0, 0, 0), mouse(32, 3, 1));
    expect(stage.tui.hasActiveSelection()).toBe(true);
    send(stage, focusOut, focusIn);
    expect(stage.tui.hasActiveSelection()).toBe(false);
    send(stage, mouse(32, 3, 1), mouse(0, 3, 1, "m"));
    expect(getCopied(stage)).toEqual([]);
  });

  test("that was made stays when the window loses the focus, and nothing is written", async () => {
    const stage = await openText("alpha\nbeta");
    send(stage, mouse(0, 0, 0), mouse(32, 3, 1), mouse(0, 3, 1, "m"));
    await expect.poll(async () => (await stage.terminal.getViewport())[0]).toContain("Copied!");
    const writes = stage.terminal.writes.length;
    send(stage, focusOut, focusIn);
    expect([stage.tui.hasActiveSelection(), stage.terminal.writes.length]).toEqual([true, writes]);
  });
});

describe("a scroll bar", () => {
  async function openView(hideDelayMs = 50) {
    const stage = await open(10, 5);
    const lines = Array.from({ length: 20 }, (_unused, index) => `line ${index} abcdef`).join("\n");
    const options = { primary: true, scrollbar: "auto", scrollbarHideDelayMs: hideDelayMs } as const;
    const view = new ScrollView(new Text(lines, 0, 0), options);
    stage.tui.setLayoutRoot(view);
    stage.tui.start();
    stage.tui.renderNow();
    return { ...stage, view };
  }

  test("that is hidden leaves its column to the text", async () => {
    const stage = await openView();
    send(stage, mouse(0, 9, 0), mouse(32, 9, 1), mouse(0, 9, 1, "m"));
    expect([stage.view.scrollTop, getCopied(stage).length]).toEqual([0, 1]);
  });

  test("stays while it is held and while the mouse is on it, and goes after that", async () => {
    const stage = await openView();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    send(stage, mouse(65, 9, 0), mouse(0, 9, 0));
    vi.advanceTimersByTime(1_000);
    expect(stage.view.isScrollbarVisible).toBe(true);
    send(stage, mouse(32, 9, 3), mouse(0, 9, 3, "m"));
    vi.advanceTimersByTime(1_000);
    expect(stage.view.isScrollbarVisible).toBe(true);
    send(stage, mouse(35, 2, 3));
    vi.advanceTimersByTime(1_000);
    expect(stage.view.isScrollbarVisible).toBe(false);
    send(stage, mouse(64, 9, 3));
    vi.advanceTimersByTime(1_000);
    expect(stage.view.isScrollbarVisible).toBe(true);
  });
});

test("a report that comes before the first frame counts", async () => {
  const opened: string[] = [];
  const stage = await open(20, 2, { openUrl: (url) => opened.push(url) });
  stage.tui.addChild(new Text("\x1b]8;;https://example.com\x07link\x1b]8;;\x07", 0, 0));
  stage.tui.start();
  for (const input of click(1, 0)) stage.terminal.sendInput(input);
  expect(opened).toEqual(["https://example.com"]);
});

test("a click that closes a submenu leaves the focus to the list of settings", async () => {
  const plain = (text: string) => text;
  const lists = { selectedPrefix: plain, selectedText: plain, description: plain, scrollInfo: plain, noMatch: plain };
  const themes = { label: plain, value: plain, description: plain, cursor: "> ", hint: plain };
  const changes: string[] = [];
  const stage = await open(30, 6);
  const submenu = (_value: string, done: (value?: string) => void) => {
    const list = new SelectList(
      ["first", "second"].map((value) => ({ value, label: value })),
      5,
      lists,
    );
    list.onSelect = ({ value }) => done(value);
    const around = new Container();
    around.addChild(list);
    return around;
  };
  const settings = new SettingsList(
    [
      { id: "theme", label: "Theme", currentValue: "first", submenu },
      { id: "other", label: "Other", currentValue: "off", values: ["off", "on"] },
    ],
    5,
    themes,
    (id, value) => changes.push(`${id}=${value}`),
    () => {},
  );
  stage.tui.addChild(settings);
  stage.tui.setFocus(settings);
  stage.tui.start();
  stage.tui.renderNow();
  send(stage, "\r", ...click(2, 1));
  expect([changes, stage.tui.getFocusedComponent()]).toEqual([["theme=second"], settings]);
  send(stage, "\x1b[B", "\r");
  expect(changes).toEqual(["theme=second", "other=on"]);
});
