/** `--output-schema` and `-o`. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, run, textReply, toolReply } from "./kit.ts";

const schema = { type: "object", properties: { files: { type: "integer" } }, required: ["files"] };

async function open(replies: Parameters<typeof createModelWorkspace>[0], content: unknown = schema) {
  const workspace = await createModelWorkspace(replies);
  const text = typeof content === "string" ? content : JSON.stringify(content);
  await writeFile(join(workspace.directory, "schema.json"), text);
  const read = (name: string) => readFile(join(workspace.directory, name), "utf8").catch(() => undefined);
  return { workspace, read };
}

test("the answer is the value alone, after tools and a correction, and -o writes it to a file too", async () => {
  const { workspace, read } = await open([toolReply("ls"), textReply("Three."), textReply('Sure: {"files": 3}')]);
  const result = await run(workspace, ["--output-schema", "schema.json", "-o", "out.json", "How many?"]);
  expect(result).toEqual({ code: exitCodes.done, out: '{"files":3}\n', err: "" });
  expect(await read("out.json")).toBe('{"files":3}\n');
  const [first, , last] = workspace.server.requests.map(({ body }) => JSON.stringify(body));
  expect(first).toContain("fits this JSON Schema");
  expect(last).toContain("does not fit its schema");
});

test("the result of JSON mode has the value as output", async () => {
  const { workspace } = await open([textReply('{"files":3}')]);
  const { code, out } = await run(workspace, ["--mode", "json", "--output-schema", "schema.json", "How many?"]);
  const result = JSON.parse(out.trimEnd().split("\n").at(-1)!) as unknown;
  expect([code, result]).toMatchObject([0, { type: "result", answer: '{"files":3}', output: { files: 3 } }]);
  expect(result).not.toHaveProperty("error");
});

test("without a value that fits the exit code is 1, nothing is printed or written, and the reason is given", async () => {
  const wrong = Array.from({ length: 6 }, () => textReply('{"files":"many"}'));
  const { workspace, read } = await open(wrong);
  await writeFile(join(workspace.directory, "out.json"), "old");
  const args = ["--output-schema", "schema.json", "-o", "out.json", "How many?"];
  const printed = await run(workspace, args);
  expect(printed).toEqual({
    code: exitCodes.failed,
    out: "",
    err: expect.stringMatching(/^tau: the answer does not fit the schema: files: .*integer/),
  });
  expect(await read("out.json")).toBe("old");
  const { code, out } = await run(workspace, ["--output-format", "json", ...args]);
  const result = JSON.parse(out) as Record<string, unknown>;
  expect([code, result["error"]]).toEqual([1, { kind: "unfit_output", message: expect.stringContaining("files") }]);
  expect(result).not.toHaveProperty("output");
});

test("-o alone writes the answer that is printed", async () => {
  const { workspace, read } = await open([textReply("Three.")]);
  expect(await run(workspace, ["-o", "answer.txt", "How many?"])).toMatchObject({ code: 0, out: "Three.\n" });
  expect(await read("answer.txt")).toBe("Three.\n");
});

test("what cannot be used is refused before anything is sent", async () => {
  const { workspace } = await open([], { type: "objekt" });
  await writeFile(join(workspace.directory, "broken.json"), "{");
  const rows: [string[], string][] = [
    [["--output-schema", "schema.json"], "is not a JSON Schema: type must"],
    [["--output-schema", "broken.json"], "broken.json cannot be read"],
    [["--output-schema", "gone.json"], "gone.json cannot be read"],
    [["-o", "."], "is a directory"],
    [["-o", "gone/answer.txt"], "cannot be written"],
    [["--mode", "rpc", "-o", "a"], "do not go together"],
    [["--gateway", "--output-schema", "schema.json"], "do not go together"],
  ];
  for (const [args, reason] of rows) {
    const { code, out, err } = await run(workspace, [...args, "Hi"]);
    expect({ code, out, err }).toEqual({ code: exitCodes.usage, out: "", err: expect.stringContaining(reason) });
  }
  expect(workspace.server.requests).toEqual([]);
});
