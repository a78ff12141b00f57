/** Themes, keys and settings of the terminal, as a person sees them. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SettingsManager } from "@tau/config/settings";
import { builtInThemes, type ThemeDefinition } from "@tau/tui";
import { describe, expect, test } from "vitest";
import type { SessionClient } from "../../src/interactive/session-client.ts";
import { type ModelWorkspace, textReply, toolReply } from "../kit.ts";
import { openApp } from "./kit.ts";

const readSettings = async ({ agentDir }: { agentDir: string }) =>
  JSON.parse(await readFile(join(agentDir, "settings.json"), "utf8")) as Record<string, unknown>;

const definition = builtInThemes[0] as ThemeDefinition;
const own = { path: "/own.json", definition: { ...definition, name: "own" } };

describe("a theme", () => {
  test("is chosen from a list, shown while it is selected, and stored", async () => {
    const app = await openApp([], { themes: [own], mode: "truecolor" });
    app.type("/theme");
    app.press("escape", "enter");
    await app.sees("high-contrast");
    app.press("down");
    await app.sees("dark");
    app.press("down", "down", "down");
    await expect.poll(() => app.themes.theme.name).toBe("own");
    expect(app.themes.setting).toBe("system");
    app.press("enter");
    await app.sees("Theme: own");
    expect(await readSettings(app)).toMatchObject({ theme: "own" });
  });

  test("is as before when the list is closed without a choice", async () => {
    const app = await openApp([], { mode: "truecolor" });
    app.type("/theme");
    app.press("escape", "enter");
    await app.sees("high-contrast");
    app.press("down");
    await expect.poll(() => app.themes.theme.name).toBe("dark");
    app.press("escape");
    await expect.poll(() => app.themes.theme.name).toBe("system");
    expect(await readSettings(app)).not.toHaveProperty("theme");
  });

  test("may be a pair, and one that is not there is told", async () => {
    const app = await openApp([]);
    app.type("/theme light/dark");
    app.press("enter");
    await app.sees("Theme: light/dark");
    app.type("/theme drak");
    app.press("enter");
    await app.sees('There is no theme "drak"');
    expect(await readSettings(app)).toMatchObject({ theme: "light/dark" });
  });

  test("colors also what is on the screen already", async () => {
    const app = await openApp([], { mode: "truecolor" });
    await app.terminal.flush();
    const color = () => app.terminal.getCell(1, 0)?.getFgColor();
    const before = color();
    app.type("/theme light");
    app.press("enter");
    await app.sees("Theme: light");
    await expect.poll(async () => (await app.screen(), color())).not.toBe(before);
  });
});

describe("answers of the terminal about its colors", () => {
  const background = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";

  test("are waited for before the first frame, and keys are taken meanwhile", async () => {
    let answer: (() => void) | undefined;
    const opening = openApp([], { whenColorsKnown: () => new Promise<void>((resolve) => (answer = resolve)) });
    await expect.poll(() => answer).toBeDefined();
    answer?.();
    const app = await opening;
    const first = app.terminal.writes.findIndex((bytes) => bytes.includes("tau"));
    expect(app.terminal.writes.slice(0, first)).toEqual(["\x1b[?25l"]);
  });

  test("that come late are applied, and never shown as text, whatever is open", async () => {
    const app = await openApp([], { mode: "truecolor" });
    app.terminal.sendInput(background);
    await expect.poll(() => app.themes.theme.appearance).toBe("light");
    app.press("ctrlL");
    await app.sees("Configured:");
    app.terminal.sendInput("\x1b]4;1;rgb:8080/0000/0000\x1b\\");
    app.terminal.sendInput("\x1b[?997;1n");
    app.type("lar");
    await app.sees("> lar");
    expect(await app.screen()).not.toMatch(/rgb|997|8080/);
  });
});

test("a pair follows the terminal when it says that it has become light or dark", async () => {
  const app = await openApp([], { mode: "truecolor" });
  app.type("/theme light/dark");
  app.press("enter");
  await app.sees("Theme: light/dark");
  for (const [report, name] of [
    ["\x1b[?997;2n", "light"],
    ["\x1b[?997;1n", "dark"],
  ] as const) {
    app.terminal.sendInput(report);
    await expect.poll(() => app.themes.theme.name).toBe(name);
  }
  expect(await app.screen()).not.toContain("997");
});

describe("settings", () => {
  test("quietStartup leaves out the header", async () => {
    const app = await openApp([], { settings: { quietStartup: true } });
    expect(await app.screen()).not.toContain("τ tau");
    expect(await app.screen()).not.toContain("Model:");
  });

  test("quietStartup header leaves the line with the version", async () => {
    const prepare = async ({ directory }: ModelWorkspace) => await writeFile(join(directory, "AGENTS.md"), "Be kind.");
    const app = await openApp([], { settings: { quietStartup: "header" }, prepare });
    expect(await app.screen()).toMatch(/^ τ tau 1\.2\.3\n\n/);
  });

  test("doubleEscapeAction none does nothing", async () => {
    const app = await openApp([textReply("Hi.")], { settings: { doubleEscapeAction: "none" } });
    app.type("one");
    app.press("enter");
    await app.sees("Hi.");
    app.press("escape", "escape");
    app.type("still typing");
    await app.sees("still typing");
  });

  const waiting = toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" });

  test("showTerminalProgress and notifications tell that a run goes on and has ended", async () => {
    const terminal = { showTerminalProgress: true, notifications: "osc777" } as const;
    const app = await openApp([waiting, textReply("Hi.")], { settings: { terminal }, message: "wait" });
    await app.sees("Running bash");
    app.advance(10_001);
    await writeFile(join(app.directory, "go"), "");
    await expect.poll(() => app.terminal.writes.join("")).toContain("\x1b]777;notify;tau;The answer is there.\x07");
    const bytes = app.terminal.writes.join("");
    expect(bytes.indexOf("\x1b]9;4;3\x07")).toBeLessThan(bytes.indexOf("\x1b]9;4;0;\x07"));
  });

  const message = "wait";
  const [focusIn, focusOut] = ["\x1b[I", "\x1b[O"];

  test("a run that the user stops does not notify", async () => {
    const app = await openApp([waiting, textReply("Hi.")], { message });
    await app.sees("Running bash");
    app.advance(10_001);
    app.press("escape");
    await expect.poll(app.screen).not.toContain("Running bash");
    expect(app.terminal.writes.join("")).not.toContain("\x07");
  });

  test.each<[string, ms: number, reports: readonly string[], rings: boolean]>([
    ["a long run rings the bell in a terminal that does not report its focus", 10_001, [], true],
    ["a long run rings the bell in a terminal without the focus", 10_001, [focusIn, focusOut], true],
    ["a long run does not ring while the terminal has the focus", 10_001, [focusOut, focusIn], false],
    ["a short run does not ring", 9_000, [focusOut], false],
  ])("%s", async (_name, ms, reports, rings) => {
    const app = await openApp([waiting, textReply("Hi.")], { message });
    await app.sees("Running bash");
    for (const report of reports) app.terminal.sendInput(report);
    app.advance(ms);
    await writeFile(join(app.directory, "go"), "");
    await app.sees("Hi.");
    await expect.poll(app.screen).not.toContain("to stop");
    expect(app.terminal.writes.join("").includes("\x07")).toBe(rings);
    // The reports are not typed.
    expect(await app.screen()).not.toMatch(/\[I|\[O/);
  });

  test("a question rings the bell at once, also in a terminal with the focus", async () => {
    const app = await openApp([toolReply("read", { path: "/etc/hostname" })], {});
    app.terminal.sendInput(focusIn);
    app.type("read it");
    app.press("enter");
    await app.sees("Allow this?");
    expect(app.terminal.writes.join("")).toContain("\x07");
  });

  test.each([
    ["goes on", true],
    ["is stopped", false],
  ])("leaving a session whose run %s does not notify", async (_what, outlivesTerminal) => {
    const wrapClient = (client: SessionClient) => Object.assign(client, { outlivesTerminal });
    const app = await openApp([waiting, textReply("Hi.")], { message, wrapClient });
    await app.sees("Running bash");
    app.advance(10_001);
    app.type("/new ");
    app.press("enter");
    await expect.poll(app.screen).not.toContain("Running bash");
    expect(app.terminal.writes.join("")).not.toContain("\x07");
    await writeFile(join(app.directory, "go"), "");
  });

  test("without them the terminal is told nothing", async () => {
    const app = await openApp([textReply("Hi.")]);
    app.type("one");
    app.press("enter");
    await app.sees("Hi.");
    for (const told of ["\x07", "\x1b]9;"]) expect(app.terminal.writes.join("")).not.toContain(told);
  });

  test("outputPad 0 takes the blank column before messages away, also on the screen already", async () => {
    const app = await openApp([textReply("The answer.")]);
    app.type("one");
    app.press("enter");
    await app.sees(" The answer.");
    expect(await app.screen()).toMatch(/^ The answer\.$/m);
    app.app.applySettings(SettingsManager.inMemory({ outputPad: 0 }).get());
    await expect.poll(() => app.screen()).toMatch(/^The answer\.$/m);
    expect(await app.screen()).toMatch(/^› one$/m);
  });

  test("that change count at once", async () => {
    const app = await openApp([]);
    app.app.applySettings(SettingsManager.inMemory({ editorPaddingX: 3 }).get());
    app.type("padded");
    await app.sees(/^ {3}padded/m);
  });

  test("tuiMode counts from the next start on: the shell goes on below what is shown", async () => {
    const app = await openApp([]);
    const settings = { tuiMode: "fullscreen", fullscreenExitOutput: "resume-hint" } as const;
    app.app.applySettings(SettingsManager.inMemory(settings).get());
    app.app.stop();
    app.terminal.write("$ ");
    await app.sees(/small\n\$/);
  });
});

describe("/settings", () => {
  async function open(options: Parameters<typeof openApp>[1] = {}) {
    const app = await openApp([], { rows: 30, ...options });
    app.type("/settings");
    app.press("escape", "enter");
    await app.sees("enter changes it");
    return app;
  }

  test("explains each setting, and Enter changes one that has two values", async () => {
    const app = await open();
    app.type("hideThinking");
    await app.sees(/→ hideThinkingBlock +false/);
    await app.sees("Fold the model's thinking. Default: false.");
    app.press("enter");
    await app.sees(/→ hideThinkingBlock +true/);
    await app.sees("Default: false. You have set it.");
    expect(await readSettings(app)).toMatchObject({ hideThinkingBlock: true });
    app.press("enter");
    await app.sees(/→ hideThinkingBlock +false/);
    expect(await readSettings(app)).not.toHaveProperty("hideThinkingBlock");
  });

  test("begins with fifteen settings by readable names, and lists the others below", async () => {
    const app = await open({ rows: 40 });
    await app.sees("1/16");
    await app.sees(/→ Colors/);
    await app.sees(/^ {2}Longest run +48h$/m);
    await app.sees(/^ {2}All settings +\d+ settings$/m);
    expect(await app.screen()).not.toContain("retry.maxRetries");
    app.press("up", "enter");
    await app.sees(/^→ [a-z]+\.?\w+/m);
    await app.sees(/^ {2}Longest run +48h$/m);
    app.type("longest run");
    await app.sees(/→ limits\.runMs +48h/);
    app.press("enter");
    await app.sees("limits.runMs (number; empty: the default, 48h)");
    app.type("90m");
    app.press("enter");
    await app.sees(/→ limits\.runMs +90m/);
    expect(await readSettings(app)).toMatchObject({ limits: { runMs: 5_400_000 } });
  });

  test("offers the values of a setting, with the default named", async () => {
    const app = await open();
    app.type("doubleEscape");
    await app.sees(/→ doubleEscapeAction +tree/);
    app.press("enter");
    await app.sees(/→ tree +the default/);
    app.press("down", "enter");
    await app.sees(/→ doubleEscapeAction +fork/);
    expect(await readSettings(app)).toMatchObject({ doubleEscapeAction: "fork" });
  });

  test("takes numbers, texts and lists, and says what is wrong with others", async () => {
    const app = await open();
    app.type("pruning.keepRecentTokens");
    await app.sees("→ pruning.keepRecentTokens");
    app.press("enter");
    await app.sees("pruning.keepRecentTokens (number; empty: the default, 40000)");
    app.type("many");
    app.press("enter");
    await app.sees(/has to be a whole number/);
    app.press("enter");
    app.type("7");
    app.press("enter");
    await app.sees(/→ pruning.keepRecentTokens +7/);
    expect(await readSettings(app)).toMatchObject({ pruning: { keepRecentTokens: 7 } });
    app.press("enter");
    await app.sees("> 7");
    app.press("ctrlU", "enter");
    await app.sees(/→ pruning.keepRecentTokens +40000/);
    app.press("ctrlU");
    app.type("tools.excluded");
    await app.sees("→ tools.excluded");
    app.press("enter");
    await app.sees("tools.excluded (string[]");
    app.type("bash, write");
    app.press("enter");
    await app.sees(/→ tools.excluded +\["bash","write"\]/);
  });

  test("says that a project sets one, and that the user's own counts elsewhere", async () => {
    const app = await open({
      prepare: async ({ directory }) => {
        await mkdir(join(directory, ".tau"));
        await writeFile(join(directory, ".tau", "settings.json"), '{ "editorPaddingX": 2 }');
      },
    });
    app.type("editorPaddingX");
    await app.sees(/→ editorPaddingX +2/);
    await app.sees("This project sets it.");
    app.press("enter");
    await app.sees("editorPaddingX (number");
    app.type("1");
    app.press("enter");
    await app.sees("Elsewhere your own counts: 1.");
    await app.sees(/→ editorPaddingX +2/);
  });

  test("finds a setting by its description, and says when there is none", async () => {
    const app = await open();
    app.type("task bar");
    await app.sees("→ terminal.showTerminalProgress");
    app.press("ctrlU");
    app.type("qqqq");
    await app.sees("No setting matches");
    app.press("enter", "escape");
    await expect.poll(app.screen).not.toContain("No setting matches");
  });

  test("fits a terminal of ten rows", async () => {
    const app = await openApp([], { columns: 40, rows: 10 });
    app.type("/settings");
    app.press("escape", "enter");
    await app.sees("enter changes it");
    const screen = await app.screen();
    expect(screen).toContain(" Settings");
    expect(screen).toContain("→ Colors");
    expect(screen.split("\n").at(-1)).toContain("small");
  });

  test("shows what is searched for on a screen of six rows", async () => {
    const app = await openApp([], { columns: 40, rows: 6 });
    app.type("/settings");
    app.press("escape", "enter");
    await app.sees("enter changes it");
    app.type("theme");
    await app.sees(/Settings\n> theme\n→ theme .*\n 1\/\d/);
  });
});

describe("what is typed", () => {
  test("is kept with each change, and no more once it is sent", async () => {
    const app = await openApp([textReply("Hi.")]);
    app.type("ab");
    expect(app.drafts.slice(-2)).toEqual(["a", "ab"]);
    app.press("enter");
    await app.sees("Hi.");
    expect(app.drafts.at(-1)).toBe("");
  });

  test("is in the editor again, if it was left", async () => {
    const app = await openApp([], { draft: "half a thought" });
    await app.sees("half a thought");
  });
});

test("/hotkeys shows what is bound, also in the editor and in lists", async () => {
  const app = await openApp([], { rows: 140 });
  app.type("/hotkeys");
  app.press("escape", "enter");
  await app.sees(/ctrl\+g +Write the prompt/);
  await app.sees(/ctrl\+k +Delete up to the end/);
  await app.sees(/In the tree\n(?: {3}.*\n)* {3}shift\+l +Label/);
  await app.sees(/In the list of sessions\n(?: {3}.*\n)* {3}ctrl\+d +Delete the selected session/);
  await app.sees(/At any time\n(?: {3}.*\n)* {3}ctrl\+d +Leave/);
  await app.sees(/Without a key.*\n[\s\S]*app\.editor\.redo +Do again what was undone/);
});

test("in a full screen the editor stays at the bottom, and the conversation is scrolled above it", async () => {
  const numbered = Array.from({ length: 60 }, (_unused, index) => `line ${index}`);
  const app = await openApp([textReply(numbered.join("\n\n"))], { rows: 20, settings: { tuiMode: "fullscreen" } });
  app.type("go");
  app.press("enter");
  await app.sees("line 59");
  const lines = (await app.screen()).split("\n");
  expect(lines.at(-1)).toContain("small");
  expect(await app.screen()).not.toMatch(/line 0$/m);
  for (let page = 0; page < 12; page++) app.terminal.sendInput("\x1b[5~");
  await app.sees(/line 0$/m);
  expect((await app.screen()).split("\n").at(-1)).toContain("small");
});

test("a full screen leaves nothing on the shell's screen when it is suspended, and comes back as it was", async () => {
  const shown: string[] = [];
  const suspend = async () => void shown.push((await app.everything()).trim());
  const app = await openApp([textReply("An answer.")], { suspend, settings: { tuiMode: "fullscreen" } });
  app.type("go");
  app.press("enter");
  await app.sees("An answer.");
  app.terminal.sendInput("\x1a");
  await expect.poll(() => shown.length).toBe(1);
  expect(shown).toEqual([""]);
  await app.sees("An answer.");
});

test("in a full screen the keys for pages move in the list that is open", async () => {
  const app = await openApp([], { settings: { tuiMode: "fullscreen" } });
  app.type("/settings ");
  app.press("enter");
  await app.sees(/ 1\/\d+ · enter changes it/);
  app.terminal.sendInput("\x1b[6~");
  await app.sees(/ \d\d\/\d+ · enter changes it/);
  app.press("escape");
  await expect.poll(app.screen).not.toContain("enter changes it");
  app.type("/theme ");
  app.press("enter");
  await app.sees("→ system");
  app.terminal.sendInput("\x1b[6~");
  await app.sees("→ light/dark");
});
