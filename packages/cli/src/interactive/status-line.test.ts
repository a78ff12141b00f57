import { toPlainLine } from "@tau/tui";
import { expect, test } from "vitest";
import { drawStatus } from "./status-line.ts";
import { Themes } from "./themes.ts";

test("no escape sequence in a directory, a branch, a session's name or a model's id is drawn", () => {
  const hostile = "\x1b[35mstyled\x1b]8;;http://evil.example\x07link";
  const status = {
    cwd: `/${hostile}`,
    home: undefined,
    branch: hostile,
    sessionName: hostile,
    model: `acme/${hostile}`,
    thinkingLevel: "off",
    stats: undefined,
    lacksSandbox: false,
  };
  const { theme } = new Themes({ mode: "none", files: [] });
  const lines = drawStatus(status, theme, 200).join("\n");
  expect(lines).toContain("/styledlink (styledlink) styledlink");
  expect(lines).not.toContain("\x1b[35");
  expect(lines).not.toContain("evil.example");
});

test("without a branch there are no brackets", () => {
  const status = {
    cwd: "/work",
    home: undefined,
    sessionName: "name",
    model: "a/b",
    thinkingLevel: "off",
    stats: undefined,
    lacksSandbox: false,
  };
  const { theme } = new Themes({ mode: "none", files: [] });
  for (const branch of [undefined, ""]) expect(drawStatus({ ...status, branch }, theme, 80)[0]).toContain("/work name");
});

test("a missing sandbox is told in every width, and the directory gives way to it", () => {
  const { theme } = new Themes({ mode: "none", files: [] });
  const status = {
    cwd: "/work/a/long/directory",
    home: undefined,
    branch: "main",
    sessionName: undefined,
    model: "a/b",
    thinkingLevel: "off",
    stats: undefined,
    lacksSandbox: true,
  };
  const draw = (width: number) => drawStatus(status, theme, width).map(toPlainLine);
  expect(draw(50)[0]).toMatch(/^\/work\/a\/long\/directory \(main\) +no sandbox$/);
  expect(draw(24)[0]).toMatch(/^\/work.*… +no sandbox$/);
  for (const width of [1, 5, 10, 11, 12, 13, 24, 50])
    for (const line of draw(width)) expect(line.length).toBeLessThanOrEqual(width);
});
