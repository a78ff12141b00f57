import { expect, test } from "vitest";
import { classifyReader, findReaders } from "./foreground.ts";

const shell = { kind: "shell", isKnown: true };
const unknown = { kind: "shell", isKnown: false };
const screen = { kind: "screen" };
const code = (argv: string) => ({ kind: "interpreter", argv });

test.each([
  ["bash", shell],
  ["dash", shell],
  ["zsh", shell],
  ["zsh5.9", shell],
  ["busybox", shell],
  ["python3.11", code("python3 -c")],
  ["python", code("python3 -c")],
  ["node", code("node -e")],
  ["ruby3.1", code("ruby -e")],
  ["psql", code("psql -c")],
  ["vi", screen],
  ["vim.basic", screen],
  ["less", screen],
  ["ssh", unknown],
  ["sudo", unknown],
  ["emacs", unknown],
  ["vimx", unknown],
  ["pythonista", unknown],
  ["?", unknown],
  ["", unknown],
])("text for %s is taken as %j", (program, expected) => {
  expect(classifyReader(program)).toEqual(expected);
});

test("a program whose child reads only waits, and a terminal without any has a reader that is not known", () => {
  const git = { pid: 2, parent: 1, program: "git" };
  const sh = { pid: 3, parent: 2, program: "dash" };
  const editor = { pid: 4, parent: 3, program: "vim.basic" };
  expect(findReaders([git, sh, editor])).toEqual([{ kind: "screen", pid: 4, program: "vim.basic" }]);
  expect(findReaders([editor, git])).toHaveLength(2);
  expect(findReaders([])).toEqual([{ kind: "shell", isKnown: false, pid: 0, program: "?" }]);
});
