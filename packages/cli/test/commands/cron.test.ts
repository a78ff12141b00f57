import type { ScheduleRunData } from "@tau/protocol/gateway";
import { expect, test } from "vitest";
import { openGateway, startGateway } from "../gateway/kit.ts";
import { createModelWorkspace, run, textReply, toolReply } from "../kit.ts";

test("a schedule is added, listed, run, paused and removed, and its runs say what they cost", async () => {
  const workspace = await createModelWorkspace([textReply("All is well.")]);
  expect((await run(workspace, ["cron", "list"])).err).toContain("No gateway of yours is running.");
  await startGateway(workspace);
  expect((await run(workspace, ["cron", "list"])).out).toContain("There are no schedules");
  const cron = (...args: string[]) => run(workspace, ["cron", ...args]);
  const added = await cron(
    "add",
    "Look whether all is well",
    "--cron",
    "0 7 * * 1-5",
    "--tz",
    "Europe/Berlin",
    "--max-tokens",
    "100000",
  );
  expect(added.out).toMatch(/^\w{8} is added: cron 0 7 \* \* 1-5 \(Europe\/Berlin\)\. It is due at \S+Z\.$/m);
  const [id = ""] = added.out.split(" ");
  expect((await cron("runs", id)).out).toContain("There was no run yet.");
  expect((await cron("run", id)).out).toContain("has begun");
  const readRun = async () => JSON.parse((await cron("runs", id, "--json")).out.split("\n")[0]!) as ScheduleRunData;
  await expect
    .poll(readRun, { timeout: 20_000 })
    .toMatchObject({ state: "done", cause: "person", text: "All is well." });
  expect((await cron("runs")).out).toMatch(/Look whether all is well +done +\S+ +\$\S+ +\S+ +All is well\./);
  expect((await cron("list")).out).toMatch(/waiting +\S+Z +1 +\S+ +\$\S+ +Look whether all is well/);
  expect((await cron("pause", id)).code).toBe(0);
  expect((await cron("list")).out).toMatch(/paused/);
  expect((await cron("resume", id)).code).toBe(0);
  expect((await cron("remove", id)).code).toBe(0);
  expect(await cron("remove", id)).toMatchObject({ code: 1, err: expect.stringContaining("There is no schedule") });
});

const refusals: [args: string[], message: string][] = [
  [["--cron", "0 0 30 2 *"], "never due"],
  [["--cron", "61 * * * *"], "not valid"],
  [["--at", "2001-01-01T00:00"], "is over"],
  [["--at", "1h", "--tz", "Mars/Olympus"], "no time zone"],
  [["--at", "1h", "--channel", "nobody"], "Nobody has written"],
  [["--at", "1h", "--cwd", "missing"], "exist"],
  [[], "one of --at, --every and --cron"],
  [["--at", "1h", "--every", "1h"], "one of --at, --every and --cron"],
  [["--at", "1h", "--max-tokens", "0"], "above 0"],
];

test("a schedule that can never run, or not as it says, is refused with the reason", async () => {
  const workspace = await openGateway([]);
  for (const [args, message] of refusals) {
    const result = await run(workspace, ["cron", "add", "x", ...args]);
    expect(result.err).toContain(message);
    expect(result.code).not.toBe(0);
  }
  expect((await run(workspace, ["cron", "list"])).out).toContain("There are no schedules");
});

test("an agent at the gateway finds the tool when it searches for tools, and it is not listed", async () => {
  const workspace = await openGateway([
    toolReply("tool_search", { query: "schedule something later" }),
    textReply("I see."),
  ]);
  const added = await run(workspace, ["cron", "add", "Find it", "--at", "1h"]);
  const [id = ""] = added.out.split(" ");
  await run(workspace, ["cron", "run", id]);
  const isDone = async () => (await run(workspace, ["cron", "runs"])).out;
  await expect.poll(isDone, { timeout: 20_000 }).toContain("I see.");
  const [first, second] = workspace.server.requests.map(({ body }) => JSON.stringify(body));
  expect(first).not.toContain('"name":"schedule"');
  expect(second).toContain("Do something later or regularly");
});
