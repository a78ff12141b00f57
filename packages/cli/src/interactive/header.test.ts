import { expect, test } from "vitest";
import { Header } from "./header.ts";
import { Themes } from "./themes.ts";

const { theme } = new Themes({ mode: "none", files: [] });

const draw = (contextFiles: string[], width = 80) =>
  new Header({
    theme,
    version: "1.2.3",
    home: "/home/me",
    hint: undefined,
    getState: () => ({ contextFiles, cwd: "/home/me/project" }),
  })
    .render(width)
    .map((line) => line.trim());

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
  const drawn = draw(["/home/me/project/\x1b[35mstyled\x1b]52;c;aGk=\x07/AGENTS.md"]).join("\n");
  expect(drawn).toContain("Context: styled/AGENTS.md");
  for (const hostile of ["\x1b[35", "52;c"]) expect(drawn).not.toContain(hostile);
});
