/** Cells that the model starts side by side: their order, and what becomes of those that wait. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import type { Language } from "../../src/kernels/feature.ts";
import { languages, openKernels } from "./kit.ts";

async function open() {
  const opened = await openKernels();
  let count = 0;
  /** Runs cells that one answer of the model has started. Gives their texts. */
  const runTogether = async (...cells: { language: Language; code: string; reset?: boolean }[]): Promise<string[]> => {
    const ids = cells.map(() => `together-${++count}`);
    const calls = cells.map((cell, index) => call("call_tool", { name: "eval", arguments: { ...cell } }, ids[index]!));
    opened.model.add(calls, [text("Done.")]);
    await opened.prompt("go");
    const results = opened.session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
    return ids.map((id) =>
      results
        .find(({ toolCallId }) => toolCallId === id)!
        .content.flatMap((block) => (block.type === "text" ? [block.text] : []))
        .join("\n"),
    );
  };
  return { ...opened, runTogether };
}

test("a reset waits for the cells before it", async () => {
  const { runTogether } = await open();
  const language = "javascript";
  const [first, second, third] = await runTogether(
    { language, code: "var x = 1; await new Promise((resolve) => setTimeout(resolve, 100)); 7" },
    { language, code: "typeof x", reset: true },
    { language, code: "8" },
  );
  expect(first).toBe("7");
  expect(second).toMatch(/It was reset\.\]\n\n'undefined'$/);
  expect(third).toBe("8");
});

test("a cell that waits while its kernel dies has a new one", async () => {
  const { run, runTogether } = await open();
  const language = "javascript";
  await run(language, "1");
  const [dying, waiting] = await runTogether(
    { language, code: "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})" },
    { language, code: "8" },
  );
  expect(dying).toContain("The kernel has ended: ");
  expect(waiting).toMatch(/^\[A new kernel: the variables of the one before are gone\. .*\]\n\n8$/);
});

test.skipIf(languages.length < 2)("cells that call each other's kernels do not wait for each other", async () => {
  const { run, runTogether, callTool } = await open();
  for (const language of languages) await run(language, "1");
  // The last call is refused, so that the other one is answered.
  const results = await runTogether(
    { language: "javascript", code: "await py('5')" },
    { language: "python", code: "await js('5')" },
  );
  expect(results).toContain("5");
  expect(results.filter((result) => /busy with the cell/.test(result))).toHaveLength(1);
  await run("python", 'async def back():\n    return await js("await py(\'1\')")\nregister_tool("back", back)');
  expect((await callTool("call_tool", { name: "kernel__back", arguments: {} })).text).toMatch(/busy with the cell/);
});

test("a kernel that the user restarts says so to the next cell, and its tools are gone", async () => {
  const { run, callTool, session } = await open();
  await run("javascript", 'var x = 1; agentBridge.registerTool("shout", () => "HEY", { description: "Unusual." })');
  expect((await callTool("tool_search", { query: "unusual" })).text).toContain("kernel__shout");
  await session.prompt("/kernels restart javascript");
  expect((await callTool("tool_search", { query: "unusual" })).text).not.toContain("kernel__shout");
  expect((await run("javascript", "typeof x")).text).toBe(
    "[A new kernel: the variables of the one before are gone. The user restarted it.]\n\n'undefined'",
  );
  expect((await run("javascript", "2")).text).toBe("2");
});

test.skipIf(!languages.includes("python"))(
  "a function that began beside a cell is answered after its end",
  async () => {
    const { run } = await open();
    await run(
      "python",
      `import asyncio
over, begun = asyncio.Event(), asyncio.Event()
async def slow():
    begun.set()
    await over.wait()
    await asyncio.sleep(0.2)
    return 5
register_tool("slow", slow)`,
    );
    const cell = await run(
      "javascript",
      // A function that begins without a cell is waited for before the next cell begins.
      `const { existsSync } = await import("node:fs");
const cell = py("open('began', 'w').close()\\nawait begun.wait()\\nover.set()");
while (!existsSync("began")) await new Promise((resolve) => setTimeout(resolve, 10));
await Promise.all([cell, tool.kernel__slow({})])`,
    );
    expect(cell.details.value, cell.text).toEqual([null, 5]);
  },
);

test.skipIf(!languages.includes("python"))(
  "an abort ends a function and those behind it, and keeps the variables",
  async () => {
    const { run, model, prompt, session, cwd, events } = await open();
    await run(
      "python",
      `import asyncio, time
def wait():
    open("waiting", "w").close()
    time.sleep(1000)
for name in ["wait", "behind"]:
    register_tool(name, wait)
x = 1`,
    );
    const code = "await Promise.all([tool.kernel__wait({}), tool.kernel__behind({})])";
    model.add([call("call_tool", { name: "eval", arguments: { language: "javascript", code } })]);
    const running = prompt("go").catch(() => undefined);
    const isBehind = () =>
      events.some((event) => event.type === "tool_execution_start" && event.toolName === "kernel__behind");
    await expect.poll(() => isBehind() && existsSync(join(cwd, "waiting")), { timeout: 20_000 }).toBe(true);
    await session.abort();
    await running;
    expect((await run("python", "await asyncio.sleep(0)\nx")).details.value).toBe(1);
  },
);
