/** The theme and the keys from real files, while the program runs. */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SettingsManager } from "@tau/config/settings";
import { builtInThemes } from "@tau/tui";
import { expect, onTestFinished, test } from "vitest";
import * as ui from "../../src/interactive/index.ts";
import { type LooksOptions, openLooks } from "../../src/terminal/looks.ts";
import { createIo, createWorkspace } from "../kit.ts";

const createTheme = (accent: string) =>
  JSON.stringify({ ...builtInThemes[0], name: "own", colors: { ...builtInThemes[0]?.colors, accent } });

const noFlags = { themes: [], noThemes: false };

async function open(settings: object, files: Record<string, string>, flags: Partial<LooksOptions["options"]> = {}) {
  const workspace = await createWorkspace();
  const { agentDir, directory } = workspace;
  await mkdir(join(agentDir, "themes"), { recursive: true });
  const write = (name: string, text: string) => writeFile(join(agentDir, name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  await write("settings.json", JSON.stringify(settings));
  const settingsManager = await SettingsManager.create(directory, agentDir);
  const problems: string[] = [];
  const looks = await openLooks(ui, {
    options: { ...noFlags, ...flags },
    io: createIo(workspace, { env: { COLORTERM: "truecolor" } }).io,
    agentDir,
    cwd: directory,
    settingsManager,
    onChange: (more) => void problems.push(...more),
    askForColors: () => {},
  });
  onTestFinished(async () => {
    looks.close();
    await settingsManager.close();
  });
  const accent = () => {
    looks.themes.update();
    const { r, g, b } = looks.themes.theme.colors.accent;
    return [r, g, b].join(" ");
  };
  return { ...looks, first: looks.problems, problems, write, accent, settingsManager, agentDir, directory };
}

test("the file of the theme in use is read again when it is saved, and a wrong one leaves it as it was", async () => {
  const { accent, write, problems } = await open({ theme: "own" }, { "themes/own.json": createTheme("#010203") });
  expect(accent()).toBe("1 2 3");
  await write("themes/own.json", createTheme("#040506"));
  await expect.poll(accent).toBe("4 5 6");
  await write("themes/own.json", createTheme("puce!"));
  await expect.poll(() => problems.join()).toContain("own.json: colors.accent");
  expect(accent()).toBe("4 5 6");
  await write("themes/own.json", createTheme("#070809"));
  await expect.poll(accent).toBe("7 8 9");
});

test("the themes of a project are there as soon as it is trusted and read again", async () => {
  const { themes, reload, settingsManager, directory } = await open({ theme: "own" }, {});
  await mkdir(join(directory, ".tau", "themes"), { recursive: true });
  await writeFile(join(directory, ".tau", "themes", "own.json"), createTheme("#010203"));
  await reload();
  expect(themes.names).not.toContain("own");
  await settingsManager.setProjectTrusted(true);
  expect(await reload()).toEqual([]);
  expect(themes.names).toContain("own");
});

test("a theme that is chosen in the settings while the program runs is used", async () => {
  const { themes, write } = await open({}, {});
  expect(themes.theme.name).toBe("system");
  await write("settings.json", '{ "theme": "light" }');
  await expect.poll(() => (themes.update(), themes.theme.name)).toBe("light");
});

test("--use-theme is for this run, until another theme is chosen", async () => {
  const { themes, settingsManager } = await open({ theme: "dark" }, {}, { useTheme: "light" });
  expect(themes.theme.name).toBe("light");
  await settingsManager.update("global", { retry: { maxRetries: 1 } });
  themes.update();
  expect(themes.theme.name).toBe("light");
  await settingsManager.update("global", { theme: "high-contrast" });
  themes.update();
  expect(themes.theme.name).toBe("high-contrast");
});

test("what is wrong with themes and keys is told at the start, and again after a reload as long as it is", async () => {
  const files = { "keybindings.json": '{ "app.exti": "f9" }', "themes/wrong.json": "{" };
  const { first, keybindings, reload, write } = await open({ theme: "gone" }, files);
  expect(first).toEqual([
    expect.stringContaining("wrong.json is not JSON"),
    expect.stringContaining('Did you mean "app.exit"?'),
    expect.stringContaining('There is no theme "gone".'),
  ]);
  await write("keybindings.json", '{ "app.exit": "f9" }');
  await write("themes/wrong.json", createTheme("#010203"));
  expect(await reload()).toEqual([expect.stringContaining('There is no theme "gone".')]);
  expect(keybindings.getKeys("app.exit")).toEqual(["f9"]);
});

test("a pipe in the place of a file of keys or of a theme is told, and nobody waits for it", async () => {
  const { agentDir, reload } = await open({}, {});
  for (const name of ["keybindings.json", "themes/pipe.json"]) execFileSync("mkfifo", [join(agentDir, name)]);
  expect(await reload()).toEqual([
    expect.stringContaining("pipe.json: The file cannot be read: it is not a regular file."),
    expect.stringContaining("keybindings.json: The file cannot be read: it is not a regular file."),
  ]);
});
