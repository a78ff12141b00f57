/**
 * Isolated extensions that never come back from something: they cost their own calls, and a session goes on.
 * `TAU_LONG=1` tries the handlers of all events.
 */
import { writeFileSync } from "node:fs";
import { systemClock } from "@tau/ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { extensionEventNames } from "../../src/index.ts";
import { loadIsolated } from "../../src/isolated/index.ts";
import { readExtensionTrust } from "@tau/config/trust";
import {
  createPlace,
  createPorts,
  createSkippingClock,
  createSource,
  canIsolate,
  load,
  type TestHost,
  toolCode,
} from "./kit.ts";

/** Is denied and written down, which says that the code is there; then it never comes back. */
const say = `try { fs.readFileSync("/nowhere/x"); } catch {}`;
const loop = `${say} for (;;);`;
const start = `import fs from "node:fs";`;

/** Lets time pass as soon as the extension has said that it loops. */
async function failLooping(
  { decisions }: Pick<TestHost, "decisions">,
  skip: (ms: number) => void,
  begin: () => Promise<unknown>,
): Promise<string> {
  const before = decisions.length;
  const failed = begin().then(String, (error: Error) => error.message);
  await expect.poll(() => decisions.length).toBeGreaterThan(before);
  const timer = setInterval(() => skip(5_000), 20);
  onTestFinished(() => clearInterval(timer));
  const message = await failed;
  clearInterval(timer);
  return message;
}

const silent = "It did not answer for 10 seconds.";

describe.runIf(canIsolate)("an isolated extension that never comes back", () => {
  test.each([
    ["its module", loop],
    ["its factory", `export default () => { ${loop} };`],
    ["a promise of its factory", `export default async () => { ${say} await new Promise(() => {}); };`],
  ])("from %s is given up after ten seconds, and leaves no process", async (_what, code) => {
    const place = createPlace();
    const { clock, skip } = createSkippingClock();
    const { ports, decisions } = await createPorts({ place, ports: { clock } });
    const source = createSource(place, `${start} ${code}`);
    const message = await failLooping({ decisions }, skip, () => loadIsolated(source, ports));
    expect(message).toMatch(/not loaded after 10 seconds\..* tau extensions kill guest$/);
  });

  test("from a handler, a command and a tool costs these calls, and is turned off at the third", async () => {
    const { clock, skip } = createSkippingClock();
    const code = `${start} export default (tau) => {
      tau.on("tool_call", () => { ${loop} });
      tau.registerCommand("x", { handler: () => { ${loop} } });
      tau.registerTool({ name: "go", label: "l", description: "d", parameters: { type: "object" }, execute: async () => { ${loop} } });
    };`;
    const host = await load(code, { ports: { clock } });
    const { handlers, commands, tools } = host.extension;
    const event = { type: "tool_call", toolCallId: "1", toolName: "bash", input: {} } as const;
    const calls = [
      () => handlers.get("tool_call")![0]!(event, {} as never) as Promise<unknown>,
      () => commands.get("x")!.handler("", {} as never) as Promise<unknown>,
      () => tools.get("go")!.execute("1", {}, undefined, undefined, {} as never) as Promise<unknown>,
    ];
    const messages: string[] = [];
    for (const call of calls) messages.push(await failLooping(host, skip, call));
    expect(messages).toEqual([silent, silent, expect.stringMatching(/did not answer|turned off/)]);
    const { agentDir } = host.place;
    await expect.poll(() => readExtensionTrust(host.source, { agentDir })).toBe("killed");
  });

  test("while it starts is ended with its session, which does not wait", async () => {
    const place = createPlace();
    const source = createSource(place, toolCode(`return "fine";`));
    const first = await load("", { place, source });
    await first.extension.close();
    writeFileSync(source.path, "await new Promise(() => {});");
    // No time passes at all.
    const clock = { ...systemClock, setTimer: () => () => {} };
    const { extension } = await load("", { place, source, ports: { clock } });
    const call = extension.tools.get("go")!.execute("1", {}, undefined, undefined, {} as never);
    const failed = call.then(String, (error: Error) => error.message);
    await extension.close();
    expect(await failed).toBe("The session has ended.");
  });

  const streamed = new Set(["message_update", "tool_execution_update", "provider_stream_event", "project_trust"]);
  const names = extensionEventNames.filter((name) => !streamed.has(name));

  test.each(process.env["TAU_LONG"] ? names : [])("from its handler of %s costs this call", async (name) => {
    const { clock, skip } = createSkippingClock();
    const code = `${start} export default (tau) => tau.on("${name}", () => { ${loop} });`;
    const host = await load(code, { ports: { clock } });
    const [handler] = host.extension.handlers.get(name)!;
    const call = () => handler!({ type: name, headers: {} } as never, {} as never) as Promise<unknown>;
    expect(await failLooping(host, skip, call)).toBe(silent);
  });
});
