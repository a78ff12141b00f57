import { writeFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { SessionManager } from "@tau/harness";
import { describe, expect, test } from "vitest";
import { writeExtension } from "../extension-kit.ts";
import { type ModelWorkspace, textReply } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

async function addSession({ agentDir }: ModelWorkspace, cwd: string, text: string, name?: string): Promise<string> {
  const manager = await SessionManager.create(cwd, undefined, { agentDir });
  await manager.appendMessage({ role: "user", content: text, timestamp: 1 });
  if (name !== undefined) await manager.appendSessionInfo(name);
  await manager.close();
  return manager.getSessionFile()!;
}

async function run(app: OpenedApp, command: string): Promise<void> {
  app.type(command);
  app.press("escape", "enter");
}

const withTwo = {
  prepare: async (workspace: ModelWorkspace) => {
    await addSession(workspace, workspace.directory, "paint the fence", "Painting");
    await addSession(workspace, workspace.directory, "mow the lawn");
  },
};

describe("/resume", () => {
  test("opens the session that is chosen, found by its name or its first words", async () => {
    const app = await openApp([textReply("Mown.")], withTwo);
    await run(app, "/resume");
    await app.sees(/mow the lawn[\s\S]*Painting|Painting[\s\S]*mow the lawn/);
    app.type("lawn");
    await expect.poll(app.screen).not.toContain("Painting");
    app.press("enter");
    await expect.poll(app.screen).not.toContain("Sessions of this directory");
    await app.sees("mow the lawn");
    app.type("go on");
    app.press("enter");
    await app.sees("Mown.");
    expect(JSON.stringify(app.server.requests[0]!.body)).toContain("mow the lawn");
  });

  test("-r opens it at once", async () => {
    const app = await openApp([], { ...withTwo, args: ["-r"] });
    await app.sees("Sessions of this directory");
    await app.sees("Painting");
  });

  test("only sessions with a name are shown after ctrl+n; ctrl+p shows their files", async () => {
    const app = await openApp([], { ...withTwo, columns: 200 });
    await run(app, "/resume");
    await app.sees("mow the lawn");
    app.press("ctrlN");
    await expect.poll(app.screen).not.toContain("mow the lawn");
    app.press("ctrlP");
    await app.sees(/Painting .*\.jsonl/);
  });

  test("ctrl+f searches messages, and Enter opens the session of one at that message", async () => {
    const app = await openApp([], {
      prepare: async ({ agentDir, directory }: ModelWorkspace) => {
        const manager = await SessionManager.create(directory, undefined, { agentDir });
        for (const content of ["paint the fence", "with green paint", "or leave it"])
          await manager.appendMessage({ role: "user", content, timestamp: 1 });
        await manager.close();
      },
    });
    await run(app, "/resume");
    await app.sees("paint the fence");
    app.type("green");
    app.press("ctrlF");
    await app.sees("Messages of this directory");
    await app.sees("→ with green paint");
    app.press("enter");
    await app.sees("Session tree");
    await app.sees("or leave it");
    await app.sees(/→.*with green paint/);
    app.press("escape");
    await expect.poll(app.screen).not.toContain("Session tree");
  });

  test("--entry opens the tree of the session at that entry", async () => {
    const args = ["-c"];
    const app = await openApp([], {
      args,
      prepare: async ({ agentDir, directory }: ModelWorkspace) => {
        const manager = await SessionManager.create(directory, undefined, { agentDir });
        await manager.appendMessage({ role: "user", content: "paint the fence", timestamp: 1 });
        args.push("--entry", await manager.appendMessage({ role: "user", content: "with green paint", timestamp: 1 }));
        await manager.appendMessage({ role: "user", content: "or leave it", timestamp: 1 });
        await manager.close();
      },
    });
    await app.sees("Session tree");
    await app.sees(/→.*with green paint/);
  });

  test("a session gets another name", async () => {
    const app = await openApp([], withTwo);
    await run(app, "/resume");
    await app.sees("Painting");
    app.type("paint");
    await expect.poll(app.screen).not.toContain("mow");
    app.press("ctrlR");
    await app.sees("New name of the session");
    app.type(" day");
    app.press("enter");
    await app.sees("Painting day");
  });

  test("a session that got another name stays selected, wherever it is in the list then", async () => {
    const app = await openApp([], withTwo);
    await run(app, "/resume");
    await app.sees("→ mow the lawn");
    app.press("down");
    await app.sees("→ Painting");
    app.press("ctrlR");
    await app.sees("New name of the session");
    app.type(" day");
    app.press("enter");
    await app.sees("Renamed.");
    await app.sees("→ Painting day");
  });

  test("a session is deleted after a second key, and comes back by the key for undo", async () => {
    const app = await openApp([], withTwo);
    await run(app, "/resume");
    await app.sees("Painting");
    app.type("paint");
    await expect.poll(app.screen).not.toContain("mow");
    app.press("ctrlD");
    await app.sees('Delete "Painting"?');
    app.press("escape");
    await expect.poll(app.screen).not.toContain("Delete");
    app.press("ctrlD", "enter");
    await app.sees(/No sessions[\s\S]*Deleted/);
    app.press("undo");
    await app.sees(/Painting[\s\S]*It is back/);
  });

  test("a session that is open here is not deleted", async () => {
    const app = await openApp([textReply("Hello.")], { message: "hi there" });
    await app.sees("Hello.");
    await run(app, "/resume");
    await app.sees("→ hi there");
    app.press("ctrlD", "enter");
    await app.sees("The session is open here");
  });

  test("a session of another directory moves the program there: its settings, files, context and trust", async () => {
    let other = "";
    const app = await openApp([textReply("From there.")], {
      rows: 40,
      prepare: async (workspace) => {
        other = join(workspace.directory, "elsewhere");
        await mkdir(join(other, ".tau"), { recursive: true });
        await writeFile(join(other, "AGENTS.md"), "Speak of elsewhere.");
        await writeFile(join(other, "needle-of-elsewhere.txt"), "x");
        await writeFile(join(other, ".tau", "settings.json"), JSON.stringify({ defaultModel: "acme/large" }));
        await addSession(workspace, other, "a far question");
      },
    });
    await run(app, "/resume");
    await app.sees("No sessions");
    app.press("tab");
    await app.sees("a far question");
    app.press("enter");
    await app.sees("Trust it until one of these files changes");
    app.press("down", "enter");
    await app.sees("This project is trusted now.");
    await app.sees(/elsewhere \(main\)/);
    await app.sees("a far question");
    app.type("@needle");
    await app.sees("needle-of-elsewhere.txt");
    app.press("escape", "ctrlC");
    app.type("!pwd");
    app.press("enter");
    await app.sees(/\$ pwd[\s\S]*elsewhere/);
    app.type("where?");
    app.press("enter");
    await app.sees("From there.");
    const body = JSON.stringify(app.server.requests[0]!.body);
    expect(body).toContain("Speak of elsewhere.");
    await run(app, "/settings");
    await app.sees(/Model of new sessions +acme\/large/);
  });

  test("a message that is sent with the keys before it goes to the session they chose, with the trust they gave", async () => {
    const app = await openApp([textReply("From there.")], {
      rows: 40,
      prepare: async (workspace) => {
        const other = join(workspace.directory, "elsewhere");
        await mkdir(join(other, ".tau"), { recursive: true });
        await writeFile(join(other, ".tau", "SYSTEM.md"), "Speak as the project asks.");
        await addSession(workspace, other, "a far question");
      },
    });
    await run(app, "/resume");
    await app.sees("No sessions");
    app.press("tab");
    await app.sees("a far question");
    app.press("enter");
    await app.sees("Trust it until one of these files changes");
    app.press("down", "enter");
    app.type("where?");
    app.press("enter");
    await app.sees("From there.");
    const body = JSON.stringify(app.server.requests[0]!.body);
    expect(body).toContain("Speak as the project asks.");
    expect(body).toContain("a far question");
  });

  test("a session whose directory is gone can be continued here, as a copy", async () => {
    let path = "";
    const app = await openApp([textReply("Gone on.")], {
      prepare: async (workspace) => {
        const other = join(workspace.directory, "elsewhere");
        await mkdir(other);
        path = await addSession(workspace, other, "far question");
        await rm(other, { recursive: true });
      },
    });
    const before = await readFile(path, "utf8");
    const choose = async () => {
      await run(app, "/resume");
      await app.sees("Sessions of this directory");
      app.press("tab");
      await app.sees("→ far question");
      app.press("enter");
      await app.sees("The directory of this session does not exist any more:");
    };
    await choose();
    app.press("escape");
    await expect.poll(app.screen).not.toContain("does not exist any more");
    expect(await app.screen()).not.toContain("far question");
    await choose();
    app.press("enter");
    await app.sees("› far question");
    app.type("go on");
    app.press("enter");
    await app.sees("Gone on.");
    expect(await app.screen()).toContain(`${basename(app.directory)} (main)`);
    expect(await readFile(path, "utf8")).toBe(before);
  });

  test("the key and the trust of the first directory do not come along, and one can go back", async () => {
    const app = await openApp([textReply("At home."), textReply("Far away."), textReply("Home again.")], {
      rows: 40,
      message: "home question",
      args: ["--approve", "--api-key", "key-for-home-alone"],
      prepare: async (workspace) => {
        const other = join(workspace.directory, "elsewhere");
        await mkdir(join(other, ".tau"), { recursive: true });
        await writeFile(join(other, ".tau", "settings.json"), "{}");
        await addSession(workspace, other, "far question");
      },
    });
    await app.sees("At home.");
    const goTo = async (text: string) => {
      await run(app, "/resume");
      await app.sees("Sessions of this directory");
      app.press("tab");
      await app.sees(`Sessions of all directories`);
      app.type(text);
      await app.sees(`→ ${text}`);
      app.press("enter");
    };
    await goTo("far question");
    await app.sees("Trust it until one of these files changes");
    app.press("enter");
    await app.sees(/elsewhere \(main\)/);
    app.type("go");
    app.press("enter");
    await app.sees("Far away.");
    await goTo("home question");
    await app.sees("At home.");
    app.type("go");
    app.press("enter");
    await app.sees("Home again.");
    const keys = app.server.requests.map(({ headers }) => headers["authorization"]);
    expect(keys).toEqual(["Bearer key-for-home-alone", "Bearer acme-key-0123456789", "Bearer key-for-home-alone"]);
  });

  test("a session that is left for another directory ends its extensions, and one can go back", async () => {
    let log = "";
    const app = await openApp([textReply("At home."), textReply("Home again.")], {
      rows: 40,
      message: "home question",
      prepare: async (workspace) => {
        const other = join(workspace.directory, "elsewhere");
        log = join(workspace.directory, "events.txt");
        await mkdir(other, { recursive: true });
        await addSession(workspace, other, "far question");
        await writeExtension(
          workspace,
          "watcher",
          `const write = (text) => require("node:fs").appendFileSync(${JSON.stringify(log)}, text + "\\n");
           const timer = setInterval(() => {}, 1_000);
           tau.on("session_start", ({ reason }, ctx) => write("start " + reason + " " + ctx.cwd.split("/").at(-1)));
           tau.on("session_shutdown", ({ reason, targetSessionFile }, ctx) =>
             write("end " + reason + " " + ctx.cwd.split("/").at(-1) + " " + typeof targetSessionFile));`,
        );
      },
    });
    const here = basename(app.directory);
    const events = async () => (await readFile(log, "utf8")).trimEnd().split("\n");
    await app.sees("At home.");
    const goTo = async (text: string) => {
      await run(app, "/resume");
      await app.sees("Sessions of this directory");
      app.press("tab");
      await app.sees("Sessions of all directories");
      app.type(text);
      await app.sees(`→ ${text}`);
      app.press("enter");
    };
    await goTo("far question");
    await app.sees(/elsewhere \(main\)/);
    const left = [`start startup ${here}`, `end resume ${here} string`, "start resume elsewhere"];
    await expect.poll(events).toEqual(left);
    await goTo("home question");
    await expect.poll(events).toEqual([...left, "end resume elsewhere string", `start resume ${here}`]);
    app.type("go");
    app.press("enter");
    await app.sees("Home again.");
    await run(app, "/settings");
    await app.sees(/Model of new sessions +acme\/small/);
  });

  test("thousands of sessions: it is drawn and takes keys before they are read, and asks for them in pages", async () => {
    const head = "talk number";
    const count = process.env["TAU_LONG"] ? 10_000 : 2_500;
    const sought = String(count - 2);
    const app = await openApp([], {
      prepare: async (workspace) => {
        const first = await addSession(workspace, workspace.directory, `${head} 0`);
        const text = await readFile(first, "utf8");
        const id = /"id":"([^"]+)"/.exec(text)![1]!;
        const lines = text.replaceAll(/,"(?:crc|sum|check\w*)":[^,}]+/g, "");
        for (let index = 1; index < count; index++) {
          // Letters, because a search also looks at ids.
          const letters = [...String(index).padStart(5, "0")].map((digit) => "abcdefghij"[Number(digit)]).join("");
          const other = id.slice(0, -5) + letters;
          const content = lines.replaceAll(id, other).replace(`${head} 0`, `${head} ${index}`);
          writeFileSync(first.replace(id, other), content);
        }
      },
    });
    await run(app, "/resume");
    await app.sees("Sessions of this directory");
    app.type(sought);
    await app.sees(new RegExp(`Reading…|${sought}`));
    await expect.poll(app.screen, { timeout: 60_000 }).toContain(`talk number ${sought}`);
    await app.sees(/^ 1 ·/m);
  });
});
