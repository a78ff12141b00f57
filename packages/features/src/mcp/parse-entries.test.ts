import { describe, expect, test } from "vitest";
import type { McpEntry, McpSource } from "./entry.ts";
import { parseEntries } from "./parse-entries.ts";

const user: McpSource = { scope: "user", path: "/home/u/.tau/mcp.json" };
const project: McpSource = { scope: "project", path: "/work/.mcp.json" };
const ofExtension: McpSource = { scope: "extension", path: "/ext.ts" };

const parseOne = (value: unknown, source = user, name = "a") => parseEntries([{ source, servers: { [name]: value } }]);

describe("an entry becomes", () => {
  const cases: [title: string, value: object, expected: object][] = [
    ["a program", { command: "x" }, { target: { type: "stdio", command: "x", args: [], env: {} } }],
    [
      "a program with everything",
      {
        type: "stdio",
        command: "x",
        args: ["1"],
        env: { A: "b" },
        cwd: "/c",
        sandbox: { network: ["h"], allowedPaths: ["/p"] },
      },
      {
        target: {
          type: "stdio",
          command: "x",
          args: ["1"],
          env: { A: "b" },
          cwd: "/c",
          sandbox: { network: { allow: ["h"] }, allowedPaths: ["/p"] },
        },
      },
    ],
    ["one outside of the sandbox", { command: "x", sandbox: false }, { target: { sandbox: false } }],
    [
      "one with the whole network",
      { command: "x", sandbox: { network: "all" } },
      { target: { sandbox: { network: "all" } } },
    ],
    ["an address", { url: "https://h/mcp" }, { target: { type: "auto", url: "https://h/mcp", headers: {} } }],
    ["an address of http", { type: "http", url: "http://h" }, { target: { type: "http" } }],
    ["an address of streamable-http", { type: "streamable-http", url: "http://h" }, { target: { type: "http" } }],
    [
      "an address of sse",
      { type: "sse", url: "http://h", headers: { "X-A": "b" } },
      { target: { type: "sse", headers: { "X-A": "b" } } },
    ],
    ["an address with variables", { url: "${BASE:-https://h}/mcp" }, { variables: ["BASE"] }],
    [
      "an address with oauth",
      { url: "https://h", oauth: { clientId: "c", callbackPort: 9 } },
      { target: { oauth: { clientId: "c", callbackPort: 9 } } },
    ],
    ["an address without signing in", { url: "https://h", oauth: false }, { target: { oauth: false } }],
    [
      "with defaults",
      { command: "x" },
      { isEnabled: true, timeoutMs: 60_000, exposure: "codemode", toolExposure: {}, isTrusted: false },
    ],
    [
      "with choices",
      {
        command: "x",
        enabled: false,
        timeout: 1.5,
        exposure: "direct",
        toolExposure: { "a*": "hidden" },
        trusted: true,
        description: "d",
      },
      {
        isEnabled: false,
        timeoutMs: 1_500,
        exposure: "direct",
        toolExposure: { "a*": "hidden" },
        isTrusted: true,
        description: "d",
      },
    ],
    ["off, as other programs write it", { command: "x", disabled: true }, { isEnabled: false }],
    ["with keys of other programs ignored", { command: "x", autoApprove: ["y"] }, { name: "a" }],
    [
      "with all its variables, each once",
      { command: "${A}", args: ["${B:-1}", "${A}"], env: { X: "pre ${C} post" } },
      { variables: ["A", "B", "C"] },
    ],
  ];
  test.each(cases)("%s", (_title, value, expected) => {
    const { entries, problems } = parseOne(value);
    expect(problems).toEqual([]);
    expect(entries).toMatchObject([expected]);
  });
});

describe("an entry is refused", () => {
  const cases: [title: string, value: unknown, message: RegExp, source?: McpSource, name?: string][] = [
    ["that is not an object", "x", /object/],
    ["with nothing to start or reach", {}, /"command" or a "url"/],
    ["with both", { command: "x", url: "https://h" }, /Leave one of them out/],
    ["with an empty command", { command: " " }, /needs a "command"/],
    ["of stdio without a command", { type: "stdio" }, /needs a "command"/],
    ["of http without an address", { type: "http", command: "x" }, /needs a "url"/],
    ["with an unknown type", { type: "ws", url: "https://h" }, /"type"/],
    ["with arguments that are not a list", { command: "x", args: "y" }, /"args"/],
    ["with a variable that is not a text", { command: "x", env: { A: 1 } }, /env\.A/],
    ["with a variable that has no such name", { command: "x", env: { "A=B": "1" } }, /not the name of a variable/],
    ["with another kind of address", { url: "file:///etc/passwd" }, /begins with http/],
    ["with a password in its address", { url: "https://u:p@h" }, /name or password/],
    ["with a header that cannot be sent", { url: "https://h", headers: { "a b": "c" } }, /not the name of a header/],
    ["with an unknown exposure", { command: "x", exposure: "all" }, /"exposure"/],
    ["with an unknown exposure of a tool", { command: "x", toolExposure: { y: "all" } }, /toolExposure\.y/],
    ["with a wrong network", { command: "x", sandbox: { network: "open" } }, /sandbox\.network/],
    ["with a wrong sandbox", { command: "x", sandbox: "no" }, /"sandbox"/],
    ["with a time limit of nothing", { command: "x", timeout: 0 }, /"timeout"/],
    ["with a time limit of days", { command: "x", timeout: 100_000 }, /"timeout"/],
    ["with a wrong oauth", { url: "https://h", oauth: { callbackPort: "x" } }, /"oauth"/],
    ["with a name that cannot be seen", { command: "x" }, /name/, user, "\u0007"],
    ["of a project that says it is trusted", { command: "x", trusted: true }, /own mcp\.json/, project],
    ["of a project that leaves the sandbox", { command: "x", sandbox: false }, /own mcp\.json/, project],
    [
      "of a project that runs a command for a value",
      { command: "x", env: { A: "!cat ~/.ssh/id" } },
      /own mcp\.json/,
      project,
    ],
    [
      "of an extension that runs a command for a header",
      { url: "https://h", headers: { A: "!x" } },
      /own mcp\.json/,
      ofExtension,
    ],
  ];
  test.each(cases)("%s", (_title, value, message, source, name) => {
    const { entries, problems } = parseOne(value, source, name);
    expect(entries).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.message).toMatch(message);
  });
});

test("a message holds no value, which may be a secret", () => {
  const { problems } = parseOne({ url: "https://h", headers: { "X Y": "hunter2" } });
  expect(JSON.stringify(problems)).not.toContain("hunter2");
});

test("one that is refused does not keep the others from being used", () => {
  const { entries } = parseEntries([{ source: user, servers: { a: {}, b: { command: "x" } } }]);
  expect(entries.map(({ name }) => name)).toEqual(["b"]);
  expect(parseEntries([{ source: user, servers: [] }]).problems).toHaveLength(1);
});

const getHash = (value: unknown, source = user, name = "a") =>
  (parseOne(value, source, name).entries[0] as McpEntry).hash;

test("the hash follows what is started, where it comes from and its name, and nothing else", () => {
  const hash = getHash({ command: "x", env: { A: "1", B: "2" } });
  expect(getHash({ env: { B: "2", A: "1" }, type: "stdio", command: "x", args: [] })).toBe(hash);
  expect(getHash({ command: "x", env: { A: "1", B: "2" }, enabled: false, exposure: "direct", timeout: 5 })).toBe(hash);
  const others = [
    getHash({ command: "x", env: { A: "1" } }),
    getHash({ command: "x", env: { A: "1", B: "2" }, args: ["y"] }),
    getHash({ command: "x", env: { A: "1", B: "2" }, sandbox: { network: "all" } }),
    getHash({ command: "x", env: { A: "1", B: "2" } }, project),
    getHash({ command: "x", env: { A: "1", B: "2" } }, user, "b"),
  ];
  expect(new Set([hash, ...others]).size).toBe(others.length + 1);
});

test("the first list of a name wins, and a project can only turn and expose what the user has", () => {
  const servers = { a: { command: "x", exposure: "direct" } };
  const combine = (value: object) =>
    parseEntries([
      { source: project, servers: { a: value } },
      { source: user, servers },
    ]);
  expect(combine({ command: "y" }).entries).toMatchObject([{ source: project, target: { command: "y" } }]);
  const overlay = combine({
    enabled: false,
    toolExposure: { t: "hidden" },
    trusted: true,
    timeout: 1,
    env: { A: "b" },
  });
  expect(overlay.problems).toEqual([]);
  expect(overlay.entries).toMatchObject([
    {
      source: user,
      isEnabled: false,
      exposure: "direct",
      toolExposure: { t: "hidden" },
      isTrusted: false,
      timeoutMs: 60_000,
    },
  ]);
  expect(overlay.entries[0]!.target).toEqual({ type: "stdio", command: "x", args: [], env: {} });
  expect(overlay.entries[0]!.hash).toBe(getHash({ command: "x" }));
  expect(parseEntries([{ source: project, servers: { z: { enabled: true } } }]).problems).toHaveLength(1);
});
