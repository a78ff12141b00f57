/** A long result in a session of any storage. */
import { existsSync } from "node:fs";
import { call, text } from "@tau/ai/testing";
import type { Storage } from "@tau/tools/storage";
import { expect } from "vitest";
import { defineTool, SessionManager } from "../../src/index.ts";
import { createTestSession } from "../../src/testing/index.ts";

const lines = Array.from({ length: 8_000 }, (_unused, index) => `line ${index + 1} of the report`);

const report = defineTool({
  name: "report",
  description: "Returns a long report.",
  input: { type: "object", properties: {} } as const,
  readOnly: true,
  execute: () => lines.join("\n"),
});

/** Each call of `open` opens the storage as another process would. */
export async function keepsLongResult(open: () => Promise<Storage>): Promise<void> {
  const params = { customTools: [report] };
  const sessionManager = await SessionManager.create("/work", undefined, { storage: await open() });
  const first = await createTestSession([[call("report")], [text("It is long.")]], { ...params, sessionManager });
  await first.prompt("Report.").finally(first.dispose);
  const said = JSON.stringify(first.model.asked[1]!.context.messages);
  expect(said).not.toContain(lines[3_999]);
  const path = /All of it is in (\/[^\s\]]+)/.exec(said)![1]!;
  // The copy for the model goes with the session that made it.
  expect(existsSync(path)).toBe(false);

  const next = await createTestSession(
    [
      [call("read", { path, offset: 4_000, limit: 1 })],
      [call("grep", { pattern: "line 4001 ", path })],
      [text("Read.")],
    ],
    { ...params, sessionManager: SessionManager.openStored(sessionManager.id, { storage: await open() }) },
  );
  await next.prompt("Read line 4,000.").finally(next.dispose);
  const results = next.model.asked[2]!.context.messages.slice(-4).map((message) => JSON.stringify(message));
  expect(results[1]).toContain(lines[3_999]);
  expect(results[3]).toContain(lines[4_000]);
}
