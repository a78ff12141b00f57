import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, run, textReply, toolReply } from "../kit.ts";

async function createDenials(count: number) {
  const replies = Array.from({ length: count }, () => [toolReply("read", { path: "/etc/shadow" }), textReply("no")]);
  const workspace = await createModelWorkspace(replies.flat());
  for (let index = 0; index < count; index++) await run(workspace, ["-p", "Read it", "--no-session"]);
  return { workspace, ledger: join(workspace.agentDir, "audit.jsonl") };
}

test("what was denied is in the audit, also of a run without a session, and without its text", async () => {
  const { workspace, ledger } = await createDenials(2);
  const { code, out } = await run(workspace, ["audit", "verify"]);
  expect({ code, out }).toEqual({ code: 0, out: `${ledger}: 2 records, all in order.\n` });
  const tail = await run(workspace, ["audit", "tail"]);
  expect(tail.out).toMatch(/decision +denied +read read +credential-file/);
  const json = await run(workspace, ["audit", "tail", "-n", "1", "--json"]);
  expect(JSON.parse(json.out)).toMatchObject({ seq: 2, event: "decision", outcome: "denied", toolName: "read" });
  expect(await readFile(ledger, "utf8")).not.toContain("shadow");
});

test("a record that was changed or removed is found, with its line", async () => {
  const { workspace, ledger } = await createDenials(3);
  const text = await readFile(ledger, "utf8");
  await writeFile(ledger, text.replace('"denied"', '"allowed"'));
  const changed = await run(workspace, ["audit", "verify"]);
  expect(changed.code).toBe(1);
  expect(changed.out).toContain(`${ledger}:1 was changed after it was written.`);
  await writeFile(ledger, text.split("\n").toSpliced(1, 1).join("\n"));
  const removed = await run(workspace, ["audit", "verify", "--json"]);
  expect(removed.code).toBe(1);
  expect(JSON.parse(removed.out)).toMatchObject({ records: 2, problems: [{ line: 2, kind: "chain_broken" }] });
});

test("without any record there is nothing to see, and nothing wrong", async () => {
  const workspace = await createModelWorkspace([]);
  expect(await run(workspace, ["audit", "tail"])).toMatchObject({
    code: 0,
    out: "Nothing was written to the audit yet.\n",
  });
  expect(await run(workspace, ["audit", "verify"])).toMatchObject({ code: 0 });
  expect(await run(workspace, ["audit", "tail", "-n", "none"])).toMatchObject({ code: 2 });
});
