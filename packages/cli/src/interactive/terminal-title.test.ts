import type { Terminal } from "@tau/tui";
import { expect, test } from "vitest";
import { formatTitle, TerminalTitle } from "./terminal-title.ts";

test.each([
  [undefined, "/home/me/work", "τ - work"],
  ["Fix the build", "/home/me/work", "τ - Fix the build - work"],
  ["a\u001b]0;bad\u0007\nb", "/", "τ - a b - /"],
])("the title of a session %j in %s", (name, cwd, title) => {
  expect(formatTitle(name, cwd)).toBe(title);
});

test("the title is set when it changes, and not where the setting is off", () => {
  const titles: string[] = [];
  let isOn = true;
  const terminal = { setTitle: (title: string) => void titles.push(title) } as unknown as Terminal;
  const title = new TerminalTitle({ terminal, isOn: () => isOn });
  title.update(undefined, "");
  title.update(undefined, "/work");
  title.update(undefined, "/work");
  title.update("Name", "/work");
  isOn = false;
  title.update("Other", "/work");
  expect(titles).toEqual(["τ - work", "τ - Name - work"]);
});
