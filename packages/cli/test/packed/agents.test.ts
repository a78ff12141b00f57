/** Sub-agents of the packed program when it is killed in the middle. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, textReply, toolReply } from "../kit.ts";
import { processesWith, runPacked, sleeping, start } from "./kit.ts";

const count = (text: string, part: string): number => text.split(part).length - 1;

test("after a kill the model knows which tasks ended and which were cut, and resumes those", async () => {
  const command = sleeping();
  const tasks = ["one", "two"].map((description) => ({ description, prompt: `Do ${description}.` }));
  const workspace = await createModelWorkspace([
    toolReply("task", { tasks }),
    textReply("First done."),
    toolReply("bash", { command }),
    // After the kill.
    toolReply("task", { resume: "2", prompt: "Go on." }),
    textReply("Second done."),
    textReply("All done."),
  ]);
  // One after the other, so that the replies are in order.
  const path = join(workspace.agentDir, "settings.json");
  const settings = JSON.parse(await readFile(path, "utf8")) as object;
  await writeFile(path, JSON.stringify({ ...settings, agents: { maxConcurrent: 1 } }));

  const run = await start(workspace, ["--mode", "json", "Go."]);
  await expect.poll(() => processesWith(command).length, { timeout: 30_000 }).toBeGreaterThan(0);
  run.child.kill("SIGKILL");
  await run.ended;
  await expect.poll(() => processesWith(command), { timeout: 20_000 }).toEqual([]);

  expect(await runPacked(workspace, ["-c", "-p", "What happened?"])).toMatchObject({ code: 0, out: "All done.\n" });
  const [, , , again, resumed, last] = workspace.server.requests.map(({ body }) => JSON.stringify(body));
  expect(again).toMatch(/These tasks ended before the session was closed:.*Task 1 \(one\): done.*First done\./);
  expect(again).toMatch(/These tasks were cut when the session was closed: 2 \(two\)\./);
  expect(resumed).toContain("Do two.");
  expect(resumed).toContain("Go on.");
  expect(count(last!, "First done.")).toBe(1);
  expect(last).toMatch(/Task 2 \(two\): done.*Second done\./);

  // What was delivered is not delivered again.
  workspace.server.requests.length = 0;
  await runPacked(workspace, ["-c", "-p", "And now?"]);
  const once = JSON.stringify(workspace.server.requests[0]?.body);
  expect([count(once, "First done."), count(once, "were cut")]).toEqual([1, 1]);
});
