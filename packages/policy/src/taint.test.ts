import { describe, expect, test } from "vitest";
import { classifyCommand } from "./exec/classify-command.ts";
import type { PolicyRequest } from "./policy.ts";
import { describeTaint, findTaint } from "./taint.ts";

const subject = { kind: "model", sessionId: "s" } as const;
const cwd = "/src/app";
const context = {
  cwd,
  rules: { roots: [cwd, "/tmp"], readable: ["/home/me/.tau/skills"], home: "/home/me", agentDir: "/home/me/.tau" },
};

const find = (request: Omit<PolicyRequest, "subject">) => findTaint({ request: { subject, ...request } }, context);

const run = (command: string) => {
  const target = { kind: "command", command } as const;
  const exec = classifyCommand(command, { cwd, home: "/home/me", workspace: cwd });
  return findTaint({ request: { subject, capability: "exec", target }, exec }, context);
};

describe("files", () => {
  test.each([
    ["read", "/home/me/Downloads/mail.txt", true],
    ["read", "/src/app/README.md", false],
    ["read", "/tmp/x", false],
    ["read", "/home/me/.tau/skills/a/SKILL.md", false],
    // It may be a session, with everything that was read there.
    ["read", "/home/me/.tau/sessions/a.jsonl", true],
    ["write", "/home/me/Downloads/mail.txt", false],
  ] as const)("%s %s brings in text of strangers: %s", (capability, path, expected) => {
    expect(find({ capability, target: { kind: "path", path } }) !== undefined).toBe(expected);
  });
});

test("a host taints, and the name of a tool or a variable does not", () => {
  expect(find({ capability: "http", target: { kind: "host", host: "x.example" } })).toMatchObject({
    source: "network",
  });
  expect(find({ capability: "tool", target: { kind: "name", name: "bash" } })).toBeUndefined();
});

test("a call that names who wrote what it brings in taints, whatever its target is", () => {
  const request = { subject, capability: "tool", target: { kind: "name", name: "mcp__docs__act" } } as const;
  const taint = findTaint({ request, textFrom: "the MCP server docs" }, context);
  expect(taint).toEqual({ source: "tool", detail: "the MCP server docs" });
  expect(describeTaint(taint!)).toBe("this session has read text from the MCP server docs");
});

describe("commands that read from the network", () => {
  test.each([
    "curl https://x.example",
    "cd docs && /usr/bin/curl -s https://x.example | head",
    "sh -c 'wget -qO- x.example'",
    "timeout 5 git fetch origin",
    "git -C sub pull",
    "git clone https://x.example/a.git",
    "gh issue view 3",
    "npm view left-pad readme",
    "cat < /dev/tcp/x.example/80",
    `python3 -c 'import urllib.request as u; print(u.urlopen("http://x.example").read())'`,
    "ssh x.example cat notes",
    "X=curl; $X https://x.example",
    "echo $(curl -s https://x.example)",
  ])("%s", (command) => {
    expect(run(command)).toMatchObject({ source: "network" });
  });
});

describe("commands that name files of other places", () => {
  test.each([
    ["cat /home/me/Downloads/mail.txt", "/home/me/Downloads/mail.txt"],
    ["cat ~/mail.txt", "/home/me/mail.txt"],
    ["head ../other/README.md", "/src/other/README.md"],
    ["cd .. && cat other/README.md", "/src"],
    ["while read line; do echo $line; done < /home/me/mail.txt", "/home/me/mail.txt"],
    ["D=/home/me/Downloads; cat $D/mail.txt", "/home/me/Downloads"],
    ["grep -r key /srv/share", "/srv/share"],
  ])("%s", (command, detail) => {
    expect(run(command)).toEqual({ source: "outside_file", detail });
  });
});

describe("ordinary commands do not taint", () => {
  test.each([
    "ls -la",
    "npm test",
    "npm install",
    "git status && git diff HEAD~1",
    "git commit -m 'fetch: see https://x.example'",
    "cat ./src/a.ts /src/app/b.ts",
    "python3 script.py",
    "sed -n '1,10p' src/a.ts",
    "echo hello > /dev/null 2>&1",
    "cat /etc/os-release",
    "/usr/bin/env node build.mjs",
    "find . -name '*.ts' | xargs grep a/b",
    "echo 1/2 and/or 3",
    "cat /tmp/build.log",
  ])("%s", (command) => {
    expect(run(command)).toBeUndefined();
  });
});

test("a question can say why", () => {
  expect(describeTaint({ source: "outside_file", detail: "/a" })).toContain("/a");
  expect(describeTaint({ source: "network", detail: "curl" })).toContain("from the network (curl)");
  expect(describeTaint({ source: "message", detail: "a channel" })).toContain("a message from a channel");
});
