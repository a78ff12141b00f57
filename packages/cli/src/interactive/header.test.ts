import { setKeybindings, stripTerminalSequences } from "@tau/tui";
import { expect, test } from "vitest";
import { Header } from "./header.ts";
import { createKeybindings } from "./keybindings.ts";
import type { LoadedNames } from "./session-facts.ts";
import { Themes } from "./themes.ts";

const { theme } = new Themes({ mode: "none", files: [] });

interface Loaded {
  loaded?: LoadedNames;
  isExpanded?: boolean;
}

const drawRaw = (contextFiles: string[], { loaded, isExpanded = false }: Loaded = {}) =>
  new Header({
    theme,
    version: "1.2.3",
    home: "/home/me",
    hint: undefined,
    getLoaded: () => loaded,
    isExpanded: () => isExpanded,
    getState: () => ({ contextFiles, cwd: "/home/me/project" }),
  })
    .render(80)
    .map((line) => line.trim());

const draw = (...args: Parameters<typeof drawRaw>) =>
  drawRaw(...args).map((line) => stripTerminalSequences(line).trim());

test("paths of context files are written from the working directory, or with ~ for the home directory", () => {
  const files = [
    "/etc/AGENTS.md",
    "/home/me/.tau/AGENTS.md",
    "/home/me/project/AGENTS.md",
    "/home/me/project/a/CLAUDE.md",
  ];
  expect(draw(files).at(-1)).toContain("Context: /etc/AGENTS.md, ~/.tau/AGENTS.md, AGENTS.md, a/CLAUDE.md");
});

test("no escape sequence in the path of a context file is drawn", () => {
  const drawn = drawRaw(["/home/me/project/\x1b[35mstyled\x1b]52;c;aGk=\x07/AGENTS.md"]).join("\n");
  expect(drawn).toContain("Context: styled/AGENTS.md");
  for (const hostile of ["\x1b[35", "52;c"]) expect(drawn).not.toContain(hostile);
});

test("what was loaded is counted in one line, and named where results are shown whole", () => {
  setKeybindings(createKeybindings());
  const loaded = { skills: ["pdf", "\x1b[2Jxlsx"], prompts: ["/review"], extensions: [] };
  expect(draw([], { loaded }).slice(1)).toEqual(["2 skills, 1 prompt (ctrl+o)"]);
  expect(draw([], { loaded, isExpanded: true }).slice(1)).toEqual(["Skills: pdf, xlsx", "Prompts: /review"]);
  expect(draw([], { loaded: { skills: [], prompts: [], extensions: [] } })).toHaveLength(1);
});
