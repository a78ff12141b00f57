import { homedir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { getCallRequests } from "./call-requests.ts";
import { oneLine, summariseCall } from "./call-summary.ts";

const shown = (name: string, args: unknown) =>
  getCallRequests({ name, args }, { cwd: "/w/app" }).map(({ capability, target }) => {
    const what =
      target.kind === "path"
        ? target.path
        : target.kind === "command"
          ? target.command
          : target.kind === "host"
            ? target.host
            : target.name;
    return `${capability} ${target.kind} ${what}`;
  });

test.each<[string, unknown, string[]]>([
  ["read", { path: "src/a.ts" }, ["read path /w/app/src/a.ts"]],
  ["read", { path: "../b.ts" }, ["read path /w/b.ts"]],
  ["read", { path: "/etc//hosts/." }, ["read path /etc/hosts"]],
  ["read", { path: "~/.ssh/id_rsa" }, [`read path ${join(homedir(), ".ssh/id_rsa")}`]],
  ["read", { path: "@/etc/hosts" }, ["read path /etc/hosts"]],
  ["read", { path: "~" }, [`read path ${homedir()}`]],
  ["ls", {}, ["read path /w/app"]],
  ["grep", { pattern: "x" }, ["read path /w/app"]],
  ["find", { pattern: "*", path: "/var" }, ["read path /var"]],
  ["write", { path: "a", content: "" }, ["write path /w/app/a"]],
  ["edit", { path: "a", edits: [] }, ["write path /w/app/a"]],
  ["hashline_edit", { path: "a", edits: [] }, ["write path /w/app/a"]],
  ["bash", { command: "rm -rf /" }, ["exec command rm -rf /"]],
  ["jobs", { action: "list" }, ["exec name jobs"]],
  ["session_branch", {}, ["session name session_branch"]],
  ["session_navigate", {}, ["session name session_navigate"]],
  ["gateway_reload", {}, ["session name gateway_reload"]],
  ["agent_interrupt", {}, ["session name agent_interrupt"]],
  ["weather", { path: "/etc/passwd" }, ["tool name weather"]],
  ["constructor", {}, ["tool name constructor"]],
])("%s with %j wants %j", (name, args, wanted) => {
  expect(shown(name, args)).toEqual(wanted);
});

test("a patch writes every file that a header names, and only headers count", () => {
  const patch = "¶a.ts#12ab\r\n5:\n+¶not/a/header#1234\n¶ ../b c.ts#FFFF \n1!\n";
  expect(shown("hashline_patch", { patch })).toEqual(["write path /w/app/a.ts", "write path /w/b c.ts"]);
});

test.each<[string, unknown]>([
  ["read", {}],
  ["read", { path: 7 }],
  ["write", { path: "" }],
  ["edit", { path: "a\0b" }],
  ["read", { path: "FILE:///etc/passwd" }],
  ["hashline_patch", { patch: "no header" }],
  ["hashline_patch", null],
  ["bash", undefined],
])("%s with %j, which tells no target, wants something of its own name", (name, args) => {
  expect(shown(name, args)).toEqual([expect.stringMatching(new RegExp(`^(read|write|exec) name ${name}$`))]);
});

test("a broken header beside a good one is asked for too", () => {
  expect(shown("hashline_patch", { patch: "¶a#12ab\n1!\n¶b\n1!" })).toEqual([
    "write path /w/app/a",
    "write name hashline_patch",
  ]);
});

test.each<[string, unknown, string]>([
  ["read", { path: "a.ts" }, "Read a.ts"],
  ["ls", {}, "List ."],
  ["grep", { pattern: "key", path: "/etc" }, "Search /etc for key"],
  ["find", { pattern: "*.ts" }, "Look in . for *.ts"],
  ["write", { path: "a", content: "x" }, "Write 1 character to a"],
  ["edit", { path: "a", edits: [{}] }, "Change a"],
  ["hashline_patch", { patch: "¶a#12ab\n1!\n¶b#12ab\n1!\n¶a#12ab\n2!" }, "Change a, b"],
  ["bash", { command: "a\n\tb\u001b[2K\u202ec" }, "Run a\\n\\tb\\u{1b}[2K\\u{202e}c"],
  ["weather", { city: "Ulm" }, 'Call weather with {"city":"Ulm"}'],
  ["weather", undefined, "Call weather with nothing"],
  ["read", {}, "Call read with {}"],
])("%s with %j is summed up for a person", (name, args, summary) => {
  expect(summariseCall({ name, args })).toBe(summary);
});

test("whatever a call holds, its summary is one visible line of bounded length", () => {
  const anything = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code));
  const character = fc.oneof(anything, fc.constantFrom("a", "\n", "\u001b", "\u202e", "\u2028", "\ud800"));
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 40 }), fc.nat(20), (text, times) => {
      const command = text.repeat(times);
      const summary = summariseCall({ name: "bash", args: { command } });
      expect(summary.length).toBeLessThanOrEqual(300);
      expect(summary).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
  expect(oneLine("x".repeat(11), 10)).toBe(`${"x".repeat(9)}…`);
  expect(oneLine("x".repeat(10), 10)).toBe("x".repeat(10));
});
