import { describe, expect, test } from "vitest";
import { classifyArgv, classifyCommand } from "./classify-command.ts";

const context = { cwd: "/src/app", home: "/home/me", workspace: "/src/app" };
const classify = (command: string) => classifyCommand(command, context);

describe("commands", () => {
  test.for<[string, string[][]]>([
    ["a; b && c || d", [["a"], ["b"], ["c"], ["d"]]],
    ["a $(b `c`)", [["c"], ["b", "…"], ["a", "…"]]],
    ['x=1; a $x "${x}2" ${y:-z}', [["a", "1", "12", "z"]]],
    ["a {b,c}d $'\\x65' ~/f", [["a", "bd", "cd", "e", "/home/me/f"]]],
    [
      "env A=1 nice -n 5 a b",
      [
        ["env", "A=1", "nice", "-n", "5", "a", "b"],
        ["nice", "-n", "5", "a", "b"],
        ["a", "b"],
      ],
    ],
    [
      "sh -c 'a \"$1\"' _ b",
      [
        ["sh", "-c", 'a "$1"', "_", "b"],
        ["a", "b"],
      ],
    ],
    [
      'f() { a "$@"; }; f b c',
      [
        ["f", "b", "c"],
        ["a", "b", "c"],
      ],
    ],
    ["f() { a; }", [["a"]]],
    [
      "for i in 1 2; do a $i; done",
      [
        ["a", "1"],
        ["a", "2"],
      ],
    ],
    ["cat <<EOF\n$(a)\nEOF", [["a"], ["cat"]]],
    ["cat <<'EOF'\n$(a)\nEOF", [["cat"]]],
    ["echo $((b[$(a)]))", [["a"], ["echo", "…"]]],
    ["a <(b) > >(c)", [["b"], ["a", "/dev/fd/1000"], ["c"]]],
    [
      "find . -name x -exec a {} \\;",
      [
        ["find", ".", "-name", "x", "-exec", "a", "{}", ";"],
        ["a", "./…/x"],
      ],
    ],
    ["[[ $(a) == b ]] && c", [["a"], ["c"]]],
    ["case $(a) in $(b)) c;; esac", [["a"], ["b"], ["c"]]],
    ["trap 'a' EXIT", [["trap", "a", "EXIT"], ["a"]]],
  ])("of %s are all listed", ([command, expected]) => {
    expect(classify(command).commands).toEqual(expected);
  });
});

describe("text that is refused", () => {
  test.for([
    ["a zero byte", "ls \0"],
    ["a bare carriage return", "echo a\rb"],
    ["an escape", "echo \u001b[2J"],
    ["a bidirectional control", 'echo "\u202e"'],
    ["a character without width", "l\u200bs"],
    ["a blank that is none", "ls\u00a0-l"],
    ["a run of blanks", `ls${" ".repeat(65)}x`],
    ["64 KB", `echo ${"x".repeat(70_000)}`],
    ["2,000 nodes", "a b c;".repeat(400) + "a;".repeat(500)],
    ["33 nested substitutions", `${"$(".repeat(33)}${")".repeat(33)}`],
    ["unbalanced brackets", "{a,".repeat(20_000)],
    ["2,000 words", `echo ${"a ".repeat(2_100)}`],
    ["an escape in code inside of code", "bash -c $'ls \\x1b[2J'"],
    ["33 nested substitutions in code inside of code", `bash -c '${"$(".repeat(33)}${")".repeat(33)}'`],
    ["a trap with what is set after it", "trap 'rm -rf $X' EXIT; X=/"],
  ])("%s is denied", ([, command]) => {
    expect(classify(command!).tier).toBe("critical");
  });

  test.for([
    ["a family emoji in quotes", 'git commit -m "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}"'],
    ["a hard blank in quotes", "git commit -m 'a\u00a0b'"],
    ["an indented script", `if true; then\n${" ".repeat(80)}ls\nfi`],
    ["blanks in a here-document", `cat > x <<'EOF'\na${" ".repeat(100)}b\nEOF`],
    ["lines that end with CRLF", "cat > x <<'EOF'\r\na\r\nEOF"],
    ["a here-document of 50 KB", `cat > x <<'EOF'\n${"int f() { return a << b; }\n".repeat(1_900)}EOF`],
  ])("%s is not", ([, command]) => {
    expect(classify(command!)).toMatchObject({ tier: "low" });
  });
});

test("code that is not valid is never allowed unasked, and denied where it has something dangerous", () => {
  expect(classify("ls 'x").tier).toBe("high");
  expect(classify("sudo ls; (").tier).toBe("critical");
});

describe("directories", () => {
  test.for([
    ["cd / && rm -rf *", "critical"],
    ["cd /; cd /nowhere; rm -rf *", "critical"],
    ["cd build && rm -rf *", "low"],
    ["cd /tmp/x || exit 1; rm -rf *", "low"],
    ["(cd /; true); rm -rf build", "low"],
    ["cd $NOT_SET && rm -rf *", "critical"],
    ["rm -rf $NOT_SET/", "critical"],
    ["cd ../../ && rm -rf home", "critical"],
    ["git -C / clean -fdx", "high"],
    ["env -C / rm -rf etc", "critical"],
  ])("%s is %s", ([command, tier]) => {
    expect(classify(command!).tier).toBe(tier);
  });
});

test("the name of a function, a variable or a program that objects have too is a plain name", () => {
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    expect(classify(`${name} a; ${name}=1; echo $${name}; ${name}() { :; }; git ${name}`).tier).toBe("low");
  }
});

test.for([
  ["python3.11 -c 'print(1)'", "low"],
  ["python3.11 -c 'import shutil; shutil.rmtree(\"/\")'", "critical"],
  ["node20 app.js", "low"],
  ["pip3.12 install x", "medium"],
  ["timeout2 5 rm -rf /", "critical"],
  ["RM -rf /", "critical"],
  ["rm.exe -rf /", "critical"],
  ["x9.9.9 -rf /", "low"],
])("a program with a version or in capitals is judged by its plain name: %s", ([command, tier]) => {
  expect(classify(command!).tier).toBe(tier);
});

test("a command with more than 2,000 parts is denied, and one with fewer is not", () => {
  expect(classify("a;".repeat(2_500)).tier).toBe("critical");
  expect(classify("a;".repeat(300)).tier).toBe("low");
});

test("an argument with a zero byte is denied without a shell, too", () => {
  expect(classifyArgv("echo", ["a\0b"], { cwd: "/w", home: "/home/me", workspace: "/w" }).tier).toBe("critical");
});
