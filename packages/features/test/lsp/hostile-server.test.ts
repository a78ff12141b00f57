/** A server that misbehaves costs its own answer, and nothing else. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { type ActionCall, findReferences, findSymbols, hover, locate, request } from "../../src/lsp/actions.ts";
import type { LspArguments } from "../../src/lsp/arguments.ts";
import { rename } from "../../src/lsp/changes.ts";
import { LspError } from "../../src/lsp/failure.ts";
import { createSyntaxSymbols } from "../../src/kit/syntax/symbols.ts";
import { showCapabilities, showStatus } from "../../src/lsp/overview.ts";
import { findProblems } from "../../src/lsp/problems.ts";
import { maxIdleMs, retryAfterMs } from "../../src/lsp/servers.ts";
import { openToy, toyServer, type ToySession } from "./kit.ts";

const makeCall = ({ session }: ToySession, args: Partial<LspArguments>): ActionCall => ({
  session,
  args: { action: "hover", file: "a.toy", line: 2, symbol: "one", ...args },
  signal: undefined,
});

const noSyntax = createSyntaxSymbols({
  spawn: () => Promise.reject(new Error("no program")),
  places: { cwd: "/nowhere", agentDir: "/nowhere", isProjectTrusted: () => false },
});

/** The text of an answer, or the kind of the failure. */
async function ask(work: Promise<{ text: string }>): Promise<string> {
  try {
    return (await work).text;
  } catch (error) {
    if (error instanceof LspError) return `${error.kind}: ${error.message}`;
    throw error;
  }
}

const files = { "a.toy": "def one\nuse one\nbad two\n", "b.other": "def one\nuse one\n" };

/** Behaviours of a server that is asked to hover, the answer, and whether it still runs then. */
test.each<[behaviour: string, answer: RegExp, isAlive: boolean]>([
  ["good", /^word one$/, true],
  ["hang", /^timeout: toy did not answer to textDocument\/hover/, true],
  ["never-initialises", /^timeout: toy was not ready/, true],
  ["crash-at-start", /^start_failed: .*code 3.*no such library/s, false],
  ["crash-at-initialize", /^start_failed: .*code 4/, false],
  ["odd-capabilities", /^start_failed: .*something else than its capabilities/, false],
  ["crash-after-initialize", /^ended: .*code 5/, false],
  ["crash-at-question", /^ended: .*code 6/, false],
  ["flood", /^word one$/, true],
  ["endless-flood", /^(?:ended: .*256 MB|timeout)/, false],
  ["stderr-flood", /^word one$/, true],
  ["garbage", /^ended: .*no message/, false],
  ["bad-json", /^word one$/, true],
  ["wrong-id", /^timeout/, true],
  ["text-id", /^timeout/, true],
  ["huge-length", /^ended: .*999999999999999 bytes/, false],
  ["negative-length", /^ended: .*"-5"/, false],
  ["half-frame-and-end", /^ended: .*code 0/, false],
  ["half-frame", /^timeout/, true],
  ["answers-twice", /^word one$/, true],
  ["unknown-request", /^error -32601$/, true],
  ["odd-answer", /^The server knows nothing about it\.$/, true],
  ["odd-error", /^refused: toy answered to textDocument\/hover: an error$/, true],
  ["not-utf8", /^\ufffd+$/, true],
  ["control-characters", /^\\u\{1b\}\[31mred\\u\{202e\}$/, true],
  ["control-language", /^```\\u\{1b\}\[2J.*x\ncode\n```$/, true],
  ["endless-hover", /^[x\n]{16000}$/, true],
  ["too-many-settings", /^error -32602$/, true],
  ["tiny-pieces", /^word one$/, true],
  ["ignores-shutdown", /^word one$/, true],
  ["wants-settings", /^\[\{"strict":true\},\{"toy":\{"rules":\{"strict":true\}\}\},null\]$/, true],
])(
  "a server with the behaviour %s gives its own answer, and another server its",
  async (behaviour, answer, isAlive) => {
    const toy = await openToy(behaviour, {
      files,
      servers: { other: { ...toyServer("good"), fileTypes: [".other"], args: [...toyServer("good").args!, "other"] } },
    });
    // A server that floods is read to its limit; others have to answer within a time that a busy machine gives them.
    const isSlow = /flood|tiny/.test(behaviour) || /word|error|knows|fffd|u|strict/.test(answer.source);
    const expectsTimeout = answer.source.startsWith("^timeout");
    const timeoutMs = expectsTimeout ? 1_000 : isSlow ? 60_000 : 30_000;
    // A short time is that of the answer, and not that of the start.
    if (expectsTimeout && behaviour !== "never-initialises") await toy.session.openFile("a.toy", { timeoutMs: 60_000 });
    expect(await ask(hover(makeCall(toy, { timeoutMs })))).toMatch(answer);
    expect(await ask(hover(makeCall(toy, { file: "b.other", timeoutMs: 60_000 })))).toBe("word one");
    if (!isAlive) await expect.poll(() => toy.programs.running, { timeout: 30_000 }).toBe(1);
    for (const { key } of await toy.session.servers.listRunning()) await toy.session.servers.stop(key);
    if (behaviour !== "never-initialises") await expect.poll(() => toy.programs.running, { timeout: 30_000 }).toBe(0);
  },
  90_000,
);

test.each<[behaviour: string, answer: RegExp]>([
  ["good", /^a\.toy:1:5\n {2}1: def one\n/],
  ["negative-positions", /^Nothing was found\.$/],
  ["outside-of-file", /^a\.toy:90001:90001$/],
  ["not-a-file", /^Nothing was found\.$/],
  ["secret-file", /^\/etc\/passwd:1:1$/],
])("of a definition by a server with the behaviour %s, only what makes sense is shown", async (behaviour, answer) => {
  const toy = await openToy(behaviour);
  expect(await ask(locate(makeCall(toy, { action: "definition" }), "definition"))).toMatch(answer);
});

test.each<[behaviour: string, answer: RegExp]>([
  ["overlap", /two of its changes overlap/],
  ["outside-of-workspace", /it would change \/etc\/hosts, which is outside/],
  ["dots", /it would change \/.*hosts, which is outside/],
  ["edit-of-no-file", /untitled:x is no file on this machine/],
  ["edit-outside-of-file", /line 5001 is outside of the file/],
  ["reversed-edit", /no valid range/],
  ["old-version", /it is for version 0 of a\.toy/],
  ["odd-edit", /of the kind format-disk/],
])("a rename of a server with the behaviour %s changes nothing", async (behaviour, answer) => {
  const toy = await openToy(behaviour);
  const executeTool = () => Promise.reject(new Error("Nothing may be changed."));
  const call = { ...makeCall(toy, { action: "rename", new_name: "x" }), executeTool };
  const text = await ask(rename(call));
  expect(text).toMatch(/^bad_answer: The server's edit makes no sense, so nothing was changed/);
  expect(text).toMatch(answer);
});

test("the names that a server gives itself and its capabilities cannot act on a terminal", async () => {
  const toy = await openToy("odd-names");
  await ask(hover(makeCall(toy, {})));
  const texts = [await ask(showStatus(makeCall(toy, {}))), await ask(showCapabilities(makeCall(toy, {})))];
  expect(texts[0]).toContain("toy (\\u{1b}[31mtoy) in ");
  expect(texts[1]).toContain("\\u{1b}[2J\\u{202e}Provider");
});

test("an answer that is deep and wide costs no more than what is shown of it", async () => {
  const toy = await openToy("deep-answer");
  const call = makeCall(toy, { action: "request", query: "textDocument/hover", timeoutMs: 60_000 });
  expect(await ask(request(call))).toHaveLength(32_000);
});

test("an edit that a server wants by itself is refused", async () => {
  const toy = await openToy("unasked-edit");
  expect(await ask(hover(makeCall(toy, {})))).toMatch(/"applied":false/);
  expect(await readFile(join(toy.cwd, "a.toy"), "utf8")).toBe(files["a.toy"]);
});

test.each<[behaviour: string, answer: RegExp]>([
  ["good", /^1 error:\na\.toy:3:1: error: bad is not good \(toy 7\)$/],
  ["unversioned", /^1 error:/],
  ["pull", /^1 warning:\na\.toy:1:1: warning: pulled$/],
  // It says only after the handshake that it has to be asked, and gives up its first answers.
  ["registers-pull", /^1 warning:\na\.toy:1:1: warning: pulled$/],
  ["versions-go-back", /^1 error:/],
  ["odd-diagnostics", /^1 error:/],
  ["100k-diagnostics", /^1000 errors:\n(?:.*\n){50}… and 950 more\.$/],
])("problems of a server with the behaviour %s are those that make sense", async (behaviour, answer) => {
  const toy = await openToy(behaviour);
  expect(await ask(findProblems(makeCall(toy, { action: "diagnostics", timeoutMs: 60_000 })))).toMatch(answer);
});

test("a server that reports nothing is reported", async () => {
  const toy = await openToy("silent");
  await ask(hover(makeCall(toy, {})));
  const call = makeCall(toy, { action: "diagnostics", timeoutMs: 100 });
  expect(await ask(findProblems(call))).toMatch(/toy has reported nothing about a\.toy/);
});

test("symbols inside of each other without an end are cut", async () => {
  const toy = await openToy("deep-symbols");
  expect((await ask(findSymbols(makeCall(toy, { action: "symbols" }), noSyntax))).split("\n")).toHaveLength(21);
});

test("references are asked for again while the server is loading", async () => {
  const toy = await openToy("loading");
  const text = await ask(findReferences(makeCall(toy, { action: "references" })));
  expect(text).toBe("a.toy:1:5: def one\na.toy:2:5: use one");
});

test.each(["utf-8", "utf-32", "utf-16"])(
  "positions are those of the encoding %s that the server chose",
  async (encoding) => {
    const toy = await openToy(encoding, { files: { "a.toy": "x\n🙂é one\n" } });
    const call = makeCall(toy, { action: "request" });
    const { openTarget } = await import("../../src/lsp/actions.ts");
    const { position } = await openTarget(call);
    expect(position.character).toBe({ "utf-8": 7, "utf-32": 3, "utf-16": 4 }[encoding]);
  },
);

test("a failed start is not repeated for three minutes, and a server that crashed is started again", async () => {
  const clock = createFakeClock();
  const toy = await openToy("crash-at-start", { clock });
  expect(await ask(hover(makeCall(toy, {})))).toMatch(/^start_failed/);
  expect(await ask(hover(makeCall(toy, {})))).toMatch(/tried again in 180 s/);
  expect(toy.programs.starts).toBe(1);
  await clock.advance(retryAfterMs);
  expect(await ask(hover(makeCall(toy, {})))).toMatch(/^start_failed/);
  expect(toy.programs.starts).toBe(2);
  const crashing = await openToy("crash-at-question");
  for (let start = 1; start <= 2; start++) {
    expect(await ask(hover(makeCall(crashing, {})))).toMatch(/^ended/);
    expect(crashing.programs.starts).toBe(start);
  }
});

test("a server that nobody asks for ten minutes is ended, and started again when it is needed", async () => {
  const clock = createFakeClock();
  const toy = await openToy("good", { clock });
  expect(await ask(hover(makeCall(toy, {})))).toBe("word one");
  await clock.advance(maxIdleMs - 1);
  expect(await ask(hover(makeCall(toy, {})))).toBe("word one");
  await clock.advance(maxIdleMs - 1);
  expect(toy.programs.running).toBe(1);
  await clock.advance(1);
  await expect.poll(() => toy.programs.running, { timeout: 30_000 }).toBe(0);
  expect(await ask(hover(makeCall(toy, {})))).toBe("word one");
  expect(toy.programs.starts).toBe(2);
});
