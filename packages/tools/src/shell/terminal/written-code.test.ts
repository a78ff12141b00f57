import { expect, test } from "vitest";
import { classifyReader } from "./foreground.ts";
import { parseWritten } from "./keys.ts";
import { nothingBefore, readWritten } from "./written-code.ts";

/** The commands of several writes, one after the other, and whether a person is asked about each. */
function judge(program: string, writes: readonly string[]): (string | undefined)[] {
  const reader = { ...classifyReader(program), pid: 1, program };
  let before = nothingBefore;
  return writes.map((text) => {
    const { command, doubt, after } = readWritten(reader, before, parseWritten(text).parts);
    before = after;
    return doubt === undefined ? command : `? ${command ?? ""}`;
  });
}

test.each<[string, string, string[], (string | undefined)[]]>([
  ["a line", "bash", ["rm -rf /<enter>"], ["rm -rf /"]],
  ["a line in parts", "bash", ["rm -rf ", "/", "<enter>"], ["rm -rf", "rm -rf /", "rm -rf /"]],
  [
    "lines that change nothing are forgotten",
    "bash",
    ["ls -l\n", "npm test | tail\n", "pwd\n"],
    ["ls -l", "npm test | tail", "pwd"],
  ],
  ["a directory", "bash", ["cd /\n", "ls\n", "rm -rf *\n"], ["cd /", "cd /\nls", "cd /\nrm -rf *"]],
  ["a variable", "bash", ["x=rm\n", "$x -rf /\n"], ["x=rm", "x=rm\n$x -rf /"]],
  [
    "a function",
    "bash",
    ["f() {\n", "rm -rf $1\n", "}\n", "f /\n"],
    ["f() {", "f() {\nrm -rf $1", "f() {\nrm -rf $1\n}", "f() {\nrm -rf $1\n}\nf /"],
  ],
  [
    "a loop",
    "bash",
    ["for i in /; do\n", "rm -rf $i\n", "done\n", "ls\n"],
    [
      "for i in /; do",
      "for i in /; do\nrm -rf $i",
      "for i in /; do\nrm -rf $i\ndone",
      "for i in /; do\nrm -rf $i\ndone\nls",
    ],
  ],
  ["a continued line", "bash", ["rm \\\n", "-rf /\n"], ["rm \\", "rm \\\n-rf /"]],
  ["a here-document", "bash", ["bash <<E\n", "rm -rf /\n"], ["bash <<E", "bash <<E\nrm -rf /"]],
  ["an open quote", "sh", ['eval "rm\n', '-rf /"\n'], ['eval "rm', 'eval "rm\n-rf /"']],
  ["an open pipe", "bash", ["echo x |\n", "sh\n"], ["echo x |", "echo x |\nsh"]],
  ["a line that was left", "bash", ["rm -rf <ctrl-c>", "/\n"], [undefined, "/"]],
  ["history", "bash", ["!!\n", "rm !*\n", "^a^b\n", "echo hi!\n"], ["? !!", "? rm !*", "? ^a^b", "echo hi!"]],
  ["an earlier line", "bash", ["<up><enter>", "ls\n"], ["? ", "ls"]],
  ["an edited line", "bash", ["echo rm -rf /<home><delete>", "<enter>"], ["? echo rm -rf /", "? echo rm -rf /"]],
  ["an edited line that was left", "bash", ["<up><ctrl-c>", "ls\n"], ["? ", "ls"]],
  ["a completed line", "bash", ["rm -rf /ho\t\n"], ["? rm -rf /ho"]],
  ["an end of input", "cat", ["rm x<ctrl-d>", "<ctrl-d>"], ["? rm x", "? rm x"]],
  ["the end of a shell", "bash", ["<ctrl-d>"], [undefined]],
  ["an unknown program", "wizard", ["rm -rf /\n"], ["rm -rf /"]],
  [
    "Python",
    "python3.11",
    ["import os\n", "os.system('ls')\n"],
    ["python3 -c 'import os'", "python3 -c 'import os\nos.system('\\''ls'\\'')'"],
  ],
  ["an editor's text", "vim", ["iHello! rm -rf /<esc>", ":wq<enter>"], [undefined, undefined]],
  [
    "an editor's commands",
    "vim",
    [":!rm -rf /<enter>", ":", "!rm ", "-rf /\n"],
    ["rm -rf /", undefined, "rm", "rm -rf /"],
  ],
  ["an editor's function", "vim", [":call system('x')\n", "gg:!x\n"], ["call system('x')", "x"]],
  ["a pager's commands", "less", ["/word\n", "!rm -rf /\n", "q"], [undefined, "rm -rf /", undefined]],
])("%s is judged together with what decides it", (_name, program, writes, expected) => {
  expect(judge(program, writes)).toEqual(expected);
});

test("a person is asked when more was written than can be judged together", () => {
  const lines = Array.from({ length: 3 }, (_unused, index) => `x${index}=${"y".repeat(4_000)}\n`);
  expect(judge("bash", [...lines, "ls\n"]).map((command) => command?.startsWith("? "))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
