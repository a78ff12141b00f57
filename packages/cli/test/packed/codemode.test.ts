/** Scripts in the packed program, which brings their engine along. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, textReply, toolReply } from "../kit.ts";
import { runPacked } from "./kit.ts";

test("a script calls tools in the installed program", async () => {
  const code = `return (await tools.read({ path: "a.txt" })).toUpperCase()`;
  const workspace = await createModelWorkspace([toolReply("codemode", { code }), textReply("Done.")]);
  await writeFile(join(workspace.directory, "a.txt"), "one");
  await runPacked(workspace, ["-p", "Go.", "--tools", "+codemode"]);
  expect(JSON.stringify(workspace.server.requests[1]!.body)).toContain(String.raw`Output:\nONE`);
});
