/** Accepted means accounted for: each message that waited has exactly one outcome in the log. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentTool } from "@tau/agent";
import { call, text } from "@tau/ai/testing";
import { getTypedContent } from "@tau/protocol";
import { expect, test } from "vitest";
import type { SessionEntry } from "../../src/session/entry.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type Desk, never, openDesk, sayTool, temporaryDirectory, until } from "./desk.ts";

/** A PNG. */
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A tool that waits until it is told to go on. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const tool: AgentTool = { ...sayTool("wait"), execute: () => opened.then(() => ({ content: [text("over")] })) };
  return { tool, open };
}

const waiting = ({ events }: Desk) => until(() => events.some(({ type }) => type === "tool_execution_start"));

/** Reads what became of each message that was accepted, by its words. */
function outcomes(entries: readonly SessionEntry[]): Record<string, string[]> {
  const words = new Map<string, string>();
  const found: Record<string, string[]> = {};
  for (const entry of entries) {
    if (entry.type === "queue" && entry.state === "accepted") {
      const [block] = entry.content as { text: string }[];
      words.set(entry.queueId, block!.text);
      found[block!.text] = [];
    } else if (entry.type === "queue") found[words.get(entry.queueId)!]!.push(entry.state);
    else if (entry.type === "message" && entry.queueId !== undefined) found[words.get(entry.queueId)!]!.push("said");
  }
  return found;
}

const getOutcomes = async ({ session }: Desk) => outcomes(await session.sessionManager.getEntries());

test("a prompt while busy is refused with words, and with a behaviour it waits and is said", async () => {
  const { tool, open } = gate();
  const desk = await openDesk([[call("wait")], [text("steered")], [text("followed")]], { customTools: [tool] });
  const { session, model } = desk;
  const done = session.prompt("Begin.");
  await expect(session.prompt("Me too.")).rejects.toMatchObject({ code: "busy" });
  await waiting(desk);
  expect(await session.prompt("Steer.", { streamingBehavior: "steer" })).toMatchObject({ kind: "queued" });
  expect(await session.followUp("Follow.")).toMatchObject({ kind: "queued" });
  expect(session.queue.steering).toHaveLength(1);
  open();
  await done;
  const said = session.messages.flatMap((message) => (message.role === "user" ? [message.content] : []));
  expect(said).toEqual([[text("Begin.")], [text("Steer.")], [text("Follow.")]]);
  expect(model.asked).toHaveLength(3);
  expect(await getOutcomes(desk)).toEqual({ "Steer.": ["said"], "Follow.": ["said"] });
  expect(session.queue).toEqual({ steering: [], followUps: [] });
});

test("what waits can be changed, taken back one by one, and all at once", async () => {
  const { tool, open } = gate();
  const desk = await openDesk([[call("wait")], [text("done")]], { customTools: [tool] });
  const { session } = desk;
  const done = session.prompt("Begin.");
  await waiting(desk);
  const [one, two] = [await session.steer("One."), await session.steer("Two.")];
  await session.steer("Three.");
  if (one.kind !== "queued" || two.kind !== "queued") throw new Error("They should wait.");
  await session.editQueued(one.id, "First.");
  expect(await session.removeQueued(two.id)).toBe(true);
  expect(await session.removeQueued(two.id)).toBe(false);
  expect(session.queue.steering.map(({ content }) => content)).toEqual([[text("First.")], [text("Three.")]]);
  expect((await session.clearQueue()).steering).toHaveLength(2);
  open();
  await done;
  expect(await getOutcomes(desk)).toEqual({
    "One.": ["cancelled"],
    "First.": ["cancelled"],
    "Two.": ["cancelled"],
    "Three.": ["cancelled"],
  });
});

test("a message that is changed keeps what was attached, and has what it mentions once", async () => {
  const { tool, open } = gate();
  const desk = await openDesk([[call("wait")], [text("done")]], { customTools: [tool] });
  const { session } = desk;
  await writeFile(join(session.cwd, "dot.png"), Buffer.from(onePixel, "base64"));
  const done = session.prompt("Begin.");
  await waiting(desk);
  const attached = { type: "image", mimeType: "image/png", data: "attached" } as const;
  const queued = await session.steer("Look at @dot.png", [attached]);
  if (queued.kind !== "queued") throw new Error("It should wait.");
  await session.editQueued(queued.id, "Look well at @dot.png");
  const [message] = session.queue.steering;
  const images = getTypedContent(message!.content).images;
  expect(images).toEqual([attached]);
  const blocks = message!.content as readonly { type: string }[];
  expect(blocks.filter(({ type }) => type === "image")).toHaveLength(2);
  await session.clearQueue();
  open();
  await done;
});

test("steering that interrupts ends the run and begins the next with its words", async () => {
  const tool: AgentTool = { ...sayTool("hang"), execute: () => never() };
  const desk = await openDesk([[call("hang")], [text("Turned around.")]], { customTools: [tool] });
  const done = desk.session.prompt("Go on for ever.");
  await waiting(desk);
  await desk.session.steer("Stop that.", { interrupt: true });
  await done;
  await desk.session.waitForIdle();
  const ends = desk.events.flatMap((event) => (event.type === "agent_end" ? [event.terminationReason] : []));
  expect(ends).toEqual(["abort_signal", "no_tool_calls"]);
  expect(await getOutcomes(desk)).toEqual({ "Stop that.": ["said"] });
});

test("what waits at an abort stays, and is said with the next prompt", async () => {
  const tool: AgentTool = { ...sayTool("hang"), execute: () => never() };
  const desk = await openDesk([[call("hang")], [text("Both heard.")]], { customTools: [tool] });
  const done = desk.session.prompt("Go.");
  await waiting(desk);
  await desk.session.steer("And this.");
  await desk.session.abort();
  await done;
  expect(desk.session.queue.steering).toHaveLength(1);
  await desk.session.prompt("Now.");
  expect(await getOutcomes(desk)).toEqual({ "And this.": ["said"] });
});

test("who steers or follows up while nothing goes on begins a run", async () => {
  const desk = await openDesk([[text("one")], [text("two")]]);
  expect(await desk.session.steer("Hello.")).toMatchObject({ kind: "ran", terminationReason: "no_tool_calls" });
  expect(await desk.session.followUp("More.")).toMatchObject({ kind: "ran" });
});

test("closing refuses what waits, and says so in the log", async () => {
  const directory = await temporaryDirectory();
  const tool: AgentTool = { ...sayTool("hang"), execute: () => never() };
  const sessionManager = await SessionManager.create(directory, directory);
  const desk = await openDesk([[call("hang")]], { customTools: [tool], sessionManager });
  void desk.session.prompt("Go.");
  await waiting(desk);
  await desk.session.followUp("Later.");
  await desk.session.dispose();
  const again = await SessionManager.open(sessionManager.getSessionFile()!, { access: "read" });
  expect(outcomes(await again.getEntries())).toEqual({ "Later.": ["refused"] });
  await again.close();
});

test("what was waiting when the process was killed is refused with a notice when the session is opened again", async () => {
  const directory = await temporaryDirectory();
  const before = await SessionManager.create(directory, directory);
  await before.appendMessage({ role: "user", content: "Begin.", timestamp: 1 });
  const accept = (queueId: string, words: string) =>
    before.append({ type: "queue", queueId, state: "accepted", kind: "steer", content: [text(words)] });
  await accept("a", "Said already.");
  await accept("b", "Never said.");
  await before.append({
    type: "message",
    message: { role: "user", content: [text("Said already.")], timestamp: 2 },
    queueId: "a",
  });
  const file = before.getSessionFile()!;
  await before.close();
  const sessionManager = await SessionManager.open(file);
  const desk = await openDesk([[text("hello")]], { sessionManager });
  expect(desk.session.notices).toEqual([
    { code: "message_not_said", message: expect.stringContaining("Never said.") as string },
  ]);
  expect(await getOutcomes(desk)).toEqual({ "Said already.": ["said"], "Never said.": ["refused"] });
  await desk.session.prompt("Go on.");
  expect((await getOutcomes(desk))["Never said."]).toEqual(["refused"]);
});

test("under any interleaving of steering, taking back and aborting, nothing has two outcomes or none", async () => {
  const seeds = process.env["TAU_LONG"] ? 30 : 12;
  for (let seed = 1; seed <= seeds; seed++) {
    let random = seed;
    const next = (below: number) => {
      random = (random * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff;
      return random % below;
    };
    const desk = await openDesk(
      Array.from({ length: 200 }, (_, at) => (at % 3 === 2 ? [text("ok")] : [call("look")])),
      { customTools: [sayTool("look")], sessionManager: await SessionManager.inMemory("/project") },
    );
    const { session } = desk;
    const work: Promise<unknown>[] = [];
    for (let step = 0; step < 25; step++) {
      const words = `${seed}.${step}`;
      const kind = next(8);
      if (kind < 3) work.push(session.steer(words));
      else if (kind < 5) work.push(session.followUp(words));
      else if (kind === 5) work.push(session.steer(words, { interrupt: true }));
      else if (kind === 6) work.push(session.abort());
      else work.push(session.clearQueue());
      for (let pause = next(6); pause > 0; pause--) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await Promise.all(work);
    await session.waitForIdle();
    await session.clearQueue();
    const found = Object.values(await getOutcomes(desk));
    expect(
      found.filter((one) => one.length !== 1),
      `seed ${seed}`,
    ).toEqual([]);
    const starts = desk.events.filter(({ type }) => type === "agent_start").length;
    expect(desk.events.filter(({ type }) => type === "agent_end")).toHaveLength(starts);
  }
});
