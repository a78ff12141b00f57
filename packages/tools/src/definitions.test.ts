import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AccessRequest } from "./access.ts";
import { definitions, type ToolName } from "./definitions.ts";
import type { ToolDescription } from "./tool.ts";

const describe = (name: ToolName): ToolDescription<unknown> & { name: string } => definitions[name];

function show({ capability, target, alternatives = [] }: AccessRequest): string {
  const value =
    "path" in target
      ? target.path
      : "command" in target
        ? target.command
        : "host" in target
          ? target.host
          : target.name;
  return [`${capability} ${target.kind} ${value}`, ...alternatives].join(" | ");
}

const getAccess = (name: ToolName, args: unknown) => describe(name).access?.(args, "/w/app").map(show);

test.each<[ToolName, unknown, string[]]>([
  ["read", { path: "src/a.ts" }, ["read path /w/app/src/a.ts"]],
  ["read", { path: "../b.ts" }, ["read path /w/b.ts"]],
  ["read", { path: "/etc//hosts/." }, ["read path /etc/hosts"]],
  ["read", { path: "~/.ssh/id_rsa" }, [`read path ${join(homedir(), ".ssh/id_rsa")}`]],
  ["read", { path: "~" }, [`read path ${homedir()}`]],
])("%s with %j wants %j", (name, args, wanted) => {
  expect(getAccess(name, args)).toEqual(wanted);
});

test.each<[ToolName, unknown, string[]]>([
  ["read", { path: "@/etc/hosts" }, ["read path /etc/hosts | /w/app/@/etc/hosts"]],
  ["read", { path: "it's" }, ["read path /w/app/it's | /w/app/it\u2019s"]],
  ["read", { path: "9 AM" }, ["read path /w/app/9 AM | /w/app/9\u202fAM"]],
  ["read", { path: "\u00e9" }, ["read path /w/app/\u00e9 | /w/app/e\u0301"]],
])("%s with %j names every path that it may open: %j", (name, args, wanted) => {
  expect(getAccess(name, args)).toEqual(wanted);
});

test.each<[ToolName, unknown]>([
  ["read", {}],
  ["read", { path: 7 }],
  ["read", { path: "" }],
  ["read", { path: "@" }],
  ["read", { path: "a\0b" }],
  ["read", { path: "FILE:///etc/passwd" }],
])("%s with %j, which tells no target, wants something of its own name", (name, args) => {
  expect(getAccess(name, args)).toEqual([expect.stringMatching(new RegExp(`^(read|write|exec) name ${name}$`))]);
});

test.each<[ToolName, unknown, string | undefined]>([
  ["read", { path: "a.ts" }, "Read a.ts"],
  ["read", {}, undefined],
])("%s with %j is summed up as %j", (name, args, summary) => {
  expect(describe(name).summarise?.(args)).toBe(summary);
});

test.each<[ToolName, unknown, string[], string[]]>([
  ["read", { path: "a.ts" }, ["a.ts"], []],
  ["read", { file_path: "a.ts" }, ["a.ts"], []],
  ["read", {}, [], []],
])("%s with %j has read %j and changed %j", (name, args, read, modified) => {
  expect(describe(name).touches?.(args)).toEqual({ read, modified });
});
