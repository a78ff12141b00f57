import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import type { ChannelState, IncomingMessage } from "@tau/extensions";
import { stdioChannel } from "../../src/channels/stdio/stdio-channel.ts";

/** Runs a program as a channel. `lines` is what the program read. */
async function openProgram(
  source: string,
  onMessage: (message: IncomingMessage) => Promise<void> = async () => {},
  clock = systemClock,
) {
  const directory = await mkdtemp(join(tmpdir(), "tau-stdio-"));
  const program = join(directory, "program.mjs");
  const prelude = `
    import { appendFileSync } from "node:fs";
    import { createInterface } from "node:readline";
    const write = (value) => process.stdout.write(typeof value === "string" ? value + "\\n" : JSON.stringify(value) + "\\n");
    const read = (take) => createInterface({ input: process.stdin }).on("line", (line) => {
      appendFileSync(${JSON.stringify(join(directory, "read"))}, line + "\\n");
      take(JSON.parse(line));
    });
  `;
  await writeFile(program, prelude + source);
  const [messages, states, logged]: [IncomingMessage[], ChannelState[], string[]] = [[], [], []];
  const channel = await stdioChannel.open({
    accountId: "club",
    settings: { command: process.execPath, args: [program] },
    getSecret: async () => "",
    clock,
    log: (line) => void logged.push(line),
  });
  const closing = new AbortController();
  const running = channel.run(
    {
      onMessage: async (message) => {
        await onMessage(message);
        messages.push(message);
      },
      onPress: async () => {},
      onState: (state) => void states.push(state),
    },
    closing.signal,
  );
  const close = async () => {
    closing.abort();
    await running;
  };
  onTestFinished(async () => {
    await close();
    await rm(directory, { recursive: true, force: true });
  });
  const readLines = async () => (await readFile(join(directory, "read"), "utf8").catch(() => "")).trim().split("\n");
  return { channel, messages, states, logged, readLines, close };
}

const hello = `{ type: "message", id: "1", address: { channelId: "c" }, sender: { id: "ann" }, text: "Hello" }`;

test("messages are acknowledged once they are kept, and reported as failed if they are not", async () => {
  let attempts = 0;
  const { messages, readLines } = await openProgram(
    `read(({ type }) => type === "failed" && write(${hello})); write(${hello});`,
    async () => {
      if (++attempts === 1) throw new Error("The disk is full.");
    },
  );
  await expect.poll(() => messages).toHaveLength(1);
  expect(messages[0]).toMatchObject({ peer: { kind: "direct", id: "ann" }, isMentioned: false, text: "Hello" });
  await expect
    .poll(readLines)
    .toEqual([
      JSON.stringify({ type: "failed", id: "1", reason: "The disk is full." }),
      JSON.stringify({ type: "received", id: "1" }),
    ]);
});

test("lines that are no messages cost nothing but a line in the log", async () => {
  const { messages, logged } = await openProgram(`
    for (const line of ["nonsense", "[]", "{}", '{"type":"message","id":""}', '{"type":"delivery","id":"x","status":"sent"}']) write(line);
    process.stderr.write("a warning\\n");
    write(${hello});
    setInterval(() => {}, 1000);
  `);
  await expect.poll(() => messages).toHaveLength(1);
  await expect.poll(() => logged.filter((line) => line.includes("JSON object")).length).toBe(2);
  await expect.poll(() => logged).toContain("a warning");
});

test("what the program says of a delivery is taken as it is, and an end before that is unknown", async () => {
  const { channel, states } = await openProgram(`
    const answers = {
      a: { status: "sent", messageId: "77" },
      b: { status: "refused", reason: "Blocked." },
      c: { status: "not_sent", reason: "Slow down.", retryAfterMs: 5 },
    };
    read(({ id }) => (answers[id] ? write({ type: "delivery", id, ...answers[id] }) : process.exit(3)));
  `);
  const send = (nonce: string) => channel.send({ address: { channelId: "c" }, text: "Hi", nonce });
  await expect.poll(() => states.at(-1)).toEqual({ kind: "connected" });
  expect(await Promise.all(["a", "b", "c"].map(send))).toEqual([
    { kind: "sent", messageId: "77" },
    { kind: "refused", reason: "Blocked." },
    { kind: "not_sent", reason: "Slow down.", retryAfterMs: 5 },
  ]);
  expect(await send("d")).toEqual({ kind: "unknown", reason: "The program ended." });
  await expect.poll(() => states).toContainEqual(expect.objectContaining({ kind: "waiting" }));
});

test("the program gets no variables of tau but a few harmless ones", async () => {
  process.env["TAU_TEST_SECRET_KEY"] = "do-not-tell";
  onTestFinished(() => void delete process.env["TAU_TEST_SECRET_KEY"]);
  const { messages } = await openProgram(`
    write({ ...${hello}, text: Object.keys(process.env).sort().join(" ") });
    setInterval(() => {}, 1000);
  `);
  await expect.poll(() => messages).toHaveLength(1);
  expect(messages[0]!.text).not.toContain("SECRET");
  expect(messages[0]!.text).toContain("PATH");
});

test("a text may have characters that end a line elsewhere, in both directions", async () => {
  const text = "one\u2028two\u2029three\u0085four";
  const { channel, messages, readLines } = await openProgram(`
    write({ ...${hello}, text: ${JSON.stringify(text)} });
    read(({ type, id }) => type === "send" && write({ type: "delivery", id, status: "sent", messageId: "1" }));
  `);
  await expect.poll(() => messages.map((message) => message.text)).toEqual([text]);
  const delivery = await channel.send({ address: { channelId: "c" }, text, nonce: "n" });
  expect(delivery).toEqual({ kind: "sent", messageId: "1" });
  expect((await readLines()).map((line) => (JSON.parse(line) as { text?: string }).text)).toContain(text);
});

test("a program that writes without end costs no memory, and fills no log", async () => {
  const { messages, logged } = await openProgram(`
    process.stdout.write("x".repeat(20 * 1024 * 1024) + "\\n");
    process.stderr.write("x".repeat(1024 * 1024) + "\\nwarning\\n".repeat(2) + "\\n");
    for (let count = 0; count < 1_000; count++) write("nonsense");
    write(${hello});
    setInterval(() => {}, 1000);
  `);
  await expect.poll(() => messages).toHaveLength(1);
  await expect.poll(() => logged).toContain("A line of its errors is too long.");
  expect(logged).toContain("A line has more than 8 MiB.");
  expect(logged.filter((line) => line.includes("left out"))).toHaveLength(1);
  expect(logged.length).toBeLessThan(300);
});

test.each([
  ["ignores that it is to end", `process.on("SIGTERM", () => {});`, true],
  ["closes its output and stays", `import("node:fs").then(({ closeSync }) => closeSync(1));`, false],
  [
    "ends and leaves a program behind that has its output",
    `import("node:child_process").then(({ spawn }) => {
      spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { detached: true, stdio: ["ignore", "inherit", "inherit"] }).unref();
      process.exit(0);
    });`,
    false,
  ],
])("a program that %s is ended after a while", async (_name, source, isToEnd) => {
  const { messages, states, close } = await openProgram(
    `write({ ...${hello}, text: String(process.pid) }); ${source} setInterval(() => {}, 1000);`,
    undefined,
    fastClock,
  );
  await expect.poll(() => messages).toHaveLength(1);
  const pid = Number(messages[0]!.text);
  if (isToEnd) await close();
  else await expect.poll(() => states.some(({ kind }) => kind === "waiting")).toBe(true);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

/** Waits less than it should. */
const fastClock: Clock = {
  ...systemClock,
  setTimer: (afterMs, fire) => systemClock.setTimer(Math.min(afterMs, 100), fire),
};

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
