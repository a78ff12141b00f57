import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { openApp } from "./kit.ts";

/** Runs until the file exists. */
const job = (extra: object = {}) =>
  toolReply("bash", { command: "echo started; until [ -e go ]; do sleep 0.02; done", background: true, ...extra });

describe("background jobs", () => {
  test("are counted in the status line, and the person and the model are told of the end", async () => {
    const app = await openApp([job(), textReply("Started."), textReply("I see.")], { message: "start it" });
    await app.sees("Started.");
    await app.sees(/main\) · edit +1 job/);
    await writeFile(join(app.directory, "go"), "");
    await app.sees("Job 1 has ended. Command exited with code 0.");
    await expect.poll(app.screen).not.toContain("1 job");
    // Nothing was asked for.
    expect(app.server.requests).toHaveLength(2);
    app.type("and now?");
    app.press("enter");
    await app.sees("I see.");
    const sent = JSON.stringify(app.server.requests.at(-1)!.body);
    expect(sent).toContain("Job 1 has ended. Command exited with code 0.");
    expect(sent.split("Job 1 has ended.")).toHaveLength(2);
  });

  test("begin a run when they end, if their call asked for it", async () => {
    const app = await openApp([job({ wake: true }), textReply("Started."), textReply("It has ended.")], {
      message: "start it",
    });
    await app.sees("Started.");
    await writeFile(join(app.directory, "go"), "");
    await app.sees("It has ended.");
    expect(JSON.stringify(app.server.requests.at(-1)!.body)).toContain("Job 1 has ended.");
  });

  test("are listed, read and ended by /jobs", async () => {
    const app = await openApp([job(), textReply("Started.")], { message: "start it" });
    await app.sees("Started.");
    const openJobs = () => {
      app.type("/jobs");
      app.press("escape", "enter");
    };
    openJobs();
    await app.sees("Background jobs");
    await app.sees("● 1  echo started");
    app.press("enter");
    await app.sees("Show its output");
    app.press("enter");
    await app.sees(/started[\s\S]*Job 1 is running\.[\s\S]*All of it is in/);
    openJobs();
    await app.sees("Background jobs");
    app.press("enter");
    await app.sees("End it");
    app.press("down", "enter");
    await app.sees("Job 1 was killed");
    await expect.poll(() => app.app.view.live.jobs).toEqual([]);
  });

  test("are a reason to ask before the program is left", async () => {
    const app = await openApp([job(), textReply("Started.")], { message: "start it" });
    await app.sees("Started.");
    app.type("/quit");
    app.press("escape", "enter");
    await app.sees("1 background job is running, and ends when you leave:");
    app.press("enter");
    await expect.poll(app.screen).not.toContain("when you leave");
    app.type("/quit");
    app.press("escape", "enter");
    await app.sees("when you leave:");
    app.press("down", "enter");
    await app.ended;
  });
});
