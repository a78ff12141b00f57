/** A server that behaves badly: each behaviour has a clear outcome, and nothing is left over. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { toToolName } from "../../src/mcp/tool-names.ts";
import { toToolResult } from "../../src/mcp/tool-result.ts";
import type { McpServersParts } from "../../src/mcp/servers.ts";
import { createTestServers, hostileServer, makeDirectory, type TestServersOptions } from "./kit.ts";

const revisions = ["2025-11-25", "2026-07-28"] as const;
type Revision = (typeof revisions)[number];

interface HostileOptions extends Omit<TestServersOptions, "configured"> {
  revision?: Revision;
  timeout?: number;
}

async function openHostile(behaviour: string, { revision = "2025-11-25", timeout = 8, ...parts }: HostileOptions = {}) {
  const directory = await makeDirectory();
  const state = join(directory, "starts");
  const entry = {
    command: process.execPath,
    args: [hostileServer],
    env: { BEHAVIOUR: behaviour, REVISION: revision, STATE: state },
    timeout,
  };
  const opened = await createTestServers({ ...parts, configured: { bad: entry } });
  const { servers } = opened;
  const call = async (name = "act", signal?: AbortSignal) => {
    const result = await servers.run(
      "bad",
      async (connection) => {
        const tool = servers.findTool("bad", name);
        if ("kind" in tool) throw Object.assign(new Error(tool.message), { kind: tool.kind });
        return { result: await connection.callTool(tool, {}, signal ? { signal } : {}), tool };
      },
      signal,
    );
    return toToolResult(result.result, { server: "bad", tool: name, outputSchema: result.tool.outputSchema });
  };
  const getTexts = async () => (await call()).content.map((block) => (block.type === "text" ? block.text : block.type));
  return { ...opened, call, getTexts, state, entry };
}

const getNames = ({ servers }: Awaited<ReturnType<typeof openHostile>>) =>
  servers.get("bad")!.definitions?.tools.map(({ name }) => name);

describe.each(revisions)("revision %s", (revision) => {
  test("a server that behaves is used", async () => {
    const opened = await openHostile("good", { revision });
    expect(await opened.getTexts()).toEqual(["called act"]);
    expect(opened.servers.get("bad")!.state).toMatchObject({ kind: "ready", revision });
  });

  const answered: [behaviour: string, texts: (string | RegExp)[]][] = [
    ["answers-twice", ["first"]],
    ["garbage", ["after garbage"]],
    ["escape-codes", ["\\u{1b}]52;c;ZXZpbA==\\u{7} \\u{1b}[2J done"]],
    ["flood-of-changes", ["flooded"]],
    ["asks-for-password", [/"action":"decline"/]],
    ["asks-odd-address", [/"action":"decline"/]],
    ["odd-content", [/image\/svg\+xml/, "image", /Resource a: file:\/\/\/a\]\ninside\n\[Audio/]],
    ["wrong-output", [/"many"/]],
    ["bad-output-schema", [/"a":1/]],
    ["slow-output-schema", [/"aaaa/]],
    ["slow-image", ["image"]],
  ];
  test.each(answered)("%s: the call is answered", async (behaviour, texts) => {
    const opened = await openHostile(behaviour, { revision });
    const seen = await opened.getTexts();
    for (const [index, expected] of texts.entries()) expect(seen[index]).toMatch(expected);
    // oxlint-disable-next-line no-control-regex -- they must not be there
    expect(JSON.stringify(seen)).not.toMatch(/\\u001b|\u001b/);
  });

  const failed: [behaviour: string, kind: string, timeout?: number][] = [
    ["error", "server"],
    ["odd-error", "timeout", 0.7],
    ["no-result", "timeout", 0.7],
    ["wrong-id", "timeout", 0.7],
    ["hangs-in-call", "timeout", 0.7],
    ["flood", "timeout", 0.7],
    ["flood-of-garbage", "unreachable"],
    ["progress-for-ever", "timeout", 0.3],
    ["crashes-in-call", "unreachable"],
    ["huge-message", "unreachable"],
    ["huge-message-without-end", "unreachable"],
    ["hangs-in-list", "timeout", 0.7],
    ["endless-pages", "server"],
    ["exits-at-once", "unreachable"],
  ];
  test.each(failed)("%s: the call fails as %s", async (behaviour, kind, timeout) => {
    const opened = await openHostile(behaviour, { revision, ...(timeout && { timeout }) });
    const error = (await opened.call().catch((thrown: unknown) => thrown)) as Error & { kind: string };
    expect(error).toMatchObject({ kind });
    expect(error.message).toContain("bad");
    // oxlint-disable-next-line no-control-regex -- they must not be there
    expect(error.message).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

test("a program that ends when it is asked for its revision is started again for the older one", async () => {
  const { getTexts, programs } = await openHostile("exits-when-probed");
  expect(await getTexts()).toEqual(["called act"]);
  expect(programs.started).toHaveLength(2);
});

test("a program that does not say its revision is asked as an older one", async () => {
  const { servers, getTexts } = await openHostile("silent-when-probed", { timeout: 2, clock: createFakeClock() });
  expect(await getTexts()).toEqual(["called act"]);
  expect(servers.get("bad")!.state).toMatchObject({ kind: "ready", revision: "2025-11-25" });
});

test("a server that does not acknowledge that its changes are followed can be used", async () => {
  const { getTexts } = await openHostile("never-acknowledges", { revision: "2026-07-28" });
  expect(await getTexts()).toEqual(["called act"]);
});

test("a program that never answers is given up after the time of its entry, and ended", async () => {
  const { servers, programs } = await openHostile("hangs-at-start", { timeout: 1 });
  expect(await servers.connect("bad")).toMatchObject({ kind: "failed", failure: { kind: "timeout" } });
  await expect.poll(() => programs.running).toBe(0);
});

test("definitions that are nested without end are refused", async () => {
  const { servers } = await openHostile("endless-schema");
  const failure = {
    kind: "server",
    message: "The MCP server bad failed (list tools): its answer is nested too deeply",
  };
  expect(await servers.connect("bad")).toEqual({ kind: "failed", failure });
});

const definitions: [behaviour: string, names: string[]][] = [
  ["same-names", ["act"]],
  ["deep-schema", ["fine"]],
  ["huge-schema", ["fine"]],
  ["cyclic-schema", ["act", "loop"]],
];
test.each(definitions)("%s: only tools that can be used are offered", async (behaviour, names) => {
  const opened = await openHostile(behaviour);
  expect(await opened.servers.connect("bad")).toMatchObject({ kind: "connected" });
  expect(getNames(opened)).toEqual(names);
});

test.each(["bad-names", "schema-of-nothing"])("%s: a list that is not one of tools fails", async (behaviour) => {
  const { servers, programs } = await openHostile(behaviour);
  expect(await servers.connect("bad")).toMatchObject({ kind: "failed", failure: { kind: "server" } });
  await expect.poll(() => programs.running).toBe(0);
});

test("of many tools the first thousand are offered", async () => {
  const opened = await openHostile("many-tools");
  await opened.servers.connect("bad");
  expect(getNames(opened)).toHaveLength(1_000);
  expect(opened.servers.get("bad")!.state).toMatchObject({ problems: [expect.stringContaining("5000 tools")] });
});

test("names of tools never collide, neither with each other nor with tools of tau", async () => {
  const opened = await openHostile("colliding-names");
  await opened.servers.connect("bad");
  const names = getNames(opened)!.map((name) => toToolName("bad", name));
  expect(new Set(names).size).toBe(5);
  const other = await openHostile("shadows-built-in");
  await other.servers.connect("bad");
  expect(getNames(other)!.map((name) => toToolName("bad", name))).toEqual(["mcp__bad__bash", "mcp__bad__read"]);
});

test("nothing in a description acts on a terminal or hides", async () => {
  const opened = await openHostile("escape-codes");
  await opened.servers.connect("bad");
  const [tool] = opened.servers.get("bad")!.definitions!.tools;
  expect(tool!.description).toBe("\\u{1b}[2J\\u{1b}]0;owned\\u{7}Hidden \\u{202e}txet\\u{202c} \\u{200b}here");
  expect(tool!.title).toBe("\\u{1b}[31mred");
});

test("changed definitions are shown and asked about; refused ones cannot be called, and the others can", async () => {
  let accepts = false;
  const agentDir = await makeDirectory();
  const asked: string[] = [];
  const ask: McpServersParts["ask"] = async (title, lines) => {
    asked.push([title, ...lines].join("\n"));
    return title.includes("Start") || accepts;
  };
  const first = await openHostile("changes-definitions", { agentDir, ask });
  expect(await first.getTexts()).toEqual(["called act"]);
  expect(asked).toHaveLength(1);
  await first.servers.restart("bad");
  expect(asked).toHaveLength(2);
  expect(asked[1]).toContain("was: Does act.");
  expect(asked[1]).toContain("now: Also sends your files away.");
  expect(first.servers.get("bad")!.withheld).toEqual(["act"]);
  await expect(first.call("act")).rejects.toMatchObject({ kind: "not_allowed" });
  expect(await first.call("stay")).toMatchObject({ content: [{ text: "called stay" }] });
  accepts = true;
  await first.servers.restart("bad");
  expect(await first.getTexts()).toEqual(["called act"]);
  expect(first.servers.get("bad")!.withheld).toEqual([]);
});

test("a definition that is left out once and then comes back changed is asked about", async () => {
  const { servers, questions } = await openHostile("leaves-out-and-changes");
  for (let start = 1; start <= 3; start++) await servers.restart("bad");
  expect(questions.map(({ title }) => title)).toEqual([
    "Start the MCP server bad?",
    "The MCP server bad changed a tool. Use the new definitions?",
  ]);
});

test.each(revisions)("definitions that a server of %s changes while it runs are asked about once", async (revision) => {
  const { getTexts, call, questions, servers } = await openHostile("changes-later", { revision });
  expect(await getTexts()).toEqual(["changed"]);
  await expect.poll(() => questions.length, { timeout: 10_000 }).toBe(2);
  await expect.poll(() => servers.get("bad")!.definitions!.tools[0]!.description).toBe("Changed.");
  await call();
  expect(questions).toHaveLength(2);
});

test("a server that crashed is started again three times in five minutes, and then by the user alone", async () => {
  const clock = createFakeClock();
  const { call, programs, servers } = await openHostile("crashes-in-call", { clock });
  for (let attempt = 0; attempt < 4; attempt++) await expect(call()).rejects.toMatchObject({ kind: "unreachable" });
  expect(programs.started).toHaveLength(4);
  await expect(call()).rejects.toMatchObject({ kind: "crashed" });
  expect(programs.started).toHaveLength(4);
  expect(servers.get("bad")!.stderr).toContain("boom");
  await clock.advance(5 * 60_000);
  await expect(call()).rejects.toMatchObject({ kind: "unreachable" });
  expect(programs.started).toHaveLength(5);
  expect(await servers.restart("bad")).toMatchObject({ kind: "connected" });
});

test("a call after a crash has a new server", async () => {
  const { call, getTexts } = await openHostile("crashes-once");
  await expect(call()).rejects.toMatchObject({ kind: "unreachable" });
  expect(await getTexts()).toEqual(["second life"]);
});

test("a server that is told to stop ends, also one that ignores it", async () => {
  const { servers, programs } = await openHostile("ignores-end");
  await servers.connect("bad");
  expect(programs.running).toBe(1);
  await servers.stop("bad");
  expect(programs.running).toBe(0);
});

test.each(revisions)("a call that is aborted ends at once, and the server of %s is told", async (revision) => {
  const { servers, call, state } = await openHostile("cancelled", { revision });
  await servers.connect("bad");
  const abort = new AbortController();
  const calling = call("act", abort.signal);
  await expect.poll(() => existsSync(`${state}.called`)).toBe(true);
  abort.abort();
  await expect(calling).rejects.toMatchObject({ kind: "aborted" });
  await expect.poll(() => existsSync(`${state}.cancelled`)).toBe(true);
  // The connection is still good.
  expect(servers.get("bad")!.state.kind).toBe("ready");
});

test.each(revisions)("a question of a server of %s is answered by the person", async (revision) => {
  const asked: unknown[] = [];
  const person: McpServersParts["person"] = {
    elicit: async (server, params) => {
      asked.push([server, params["message"]]);
      return { action: "accept", content: { name: "Ada" } };
    },
    sample: async () => {
      throw new Error("Refused.");
    },
  };
  const { getTexts } = await openHostile("asks", { revision, person });
  expect((await getTexts())[0]).toContain('"name":"Ada"');
  expect(asked).toEqual([["bad", "Who?"]]);
});

test("a server that asks again and again is stopped", async () => {
  const person: McpServersParts["person"] = {
    elicit: async () => ({ action: "accept", content: { name: "Ada" } }),
    sample: async () => {
      throw new Error("Refused.");
    },
  };
  const { call } = await openHostile("asks-for-ever", { revision: "2026-07-28", person });
  await expect(call()).rejects.toMatchObject({ kind: "server" });
});

test("a program gets only the variables of its entry and a few others", async () => {
  process.env["TAU_TEST_SECRET"] = "hunter2";
  onTestFinished(() => void delete process.env["TAU_TEST_SECRET"]);
  const { getTexts } = await openHostile("environment");
  const env = JSON.parse((await getTexts())[0]!) as Record<string, string>;
  const allowed = "PATH HOME LANG TMPDIR BEHAVIOUR REVISION STATE XDG_CACHE_HOME npm_config_cache UV_CACHE_DIR".split(
    " ",
  );
  expect(Object.keys(env).filter((name) => !allowed.includes(name))).toEqual([]);
});

test("progress is reported, and nothing in it acts on a terminal", async () => {
  const { servers, state } = await openHostile("progress");
  const seen: string[] = [];
  const onProgress = (text: string) => writeFileSync(`${state}.seen${seen.push(text)}`, "");
  await servers.run("bad", async (connection) => {
    const tool = servers.findTool("bad", "act");
    if ("kind" in tool) throw new Error(tool.message);
    return await connection.callTool(tool, {}, { onProgress });
  });
  expect(seen).toEqual([1, 2, 3].map((step) => `step \\u{1b}[31m${step} (${step} of 3)`));
});
