/** Follows one prompt through the rows of ARCHITECTURE.md, with real flags, files, sockets, tools and log. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { emptyView, reduce, type SessionEvent, viewFromEntries, type SessionEntry } from "@tau/protocol";
import { expect, test } from "vitest";
import { toolReply, createModelWorkspace, run, textReply } from "./kit.ts";

const root = join(import.meta.dirname, "..", "..", "..");

const rows = readFileSync(join(root, "ARCHITECTURE.md"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, number, where] = /^\| (\d+) +\| (.+?) +\|/.exec(line) ?? [];
    return where === undefined ? [] : [{ number: Number(number), where }];
  });

test("every module that the rows name exists", () => {
  expect(rows.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  for (const { where } of rows) {
    for (const [, module] of where.matchAll(/`([a-z-]+(?:\/[a-z-]+)*)`/g)) {
      const [name, ...path] = module!.split("/");
      const source = join(root, "packages", name!, "src", ...path);
      expect(existsSync(source) || existsSync(`${source}.ts`), module).toBe(true);
    }
  }
});

test("a prompt goes down by calls and comes up by events", async () => {
  const workspace = await createModelWorkspace([
    toolReply("read", { path: "fruit.txt" }),
    textReply("It says apples."),
  ]);
  const { directory, agentDir, server } = workspace;
  await writeFile(join(directory, "fruit.txt"), "apples\n");
  await mkdir(join(agentDir, "prompts"));
  await writeFile(join(agentDir, "prompts", "look.md"), "Look into $1 and tell me what it says.");

  // 1 and 2: arguments become a host with a session, and a message on the command line becomes a prompt.
  const { code, out } = await run(workspace, ["--mode", "json", "/look fruit.txt"]);
  expect(code).toBe(0);
  const [header, ...records] = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const events = records as unknown as SessionEvent[];
  const findIndex = (isMatch: (event: SessionEvent) => boolean) => events.findIndex(isMatch);
  const findEntryIndex = (role: string) =>
    findIndex(
      (event) => event.type === "entry_appended" && event.entry.type === "message" && event.entry.message.role === role,
    );

  // 3: the template was expanded.
  const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
  expect(first).toContain("Look into fruit.txt and tell me what it says.");
  expect(first).not.toContain("/look");

  // 4 and 5: the prompt was in the log before the model was asked.
  expect(findEntryIndex("user")).toBeGreaterThan(findIndex(({ type }) => type === "agent_start"));
  expect(findEntryIndex("user")).toBeLessThan(findIndex(({ type }) => type === "message_start"));

  // 6 and 7: two turns, each a request with the key of its host, in the format of its API.
  expect(events.filter(({ type }) => type === "turn_start")).toHaveLength(2);
  expect(server.requests.map(({ headers }) => headers["authorization"])).toEqual(
    Array.from({ length: 2 }, () => "Bearer acme-key-0123456789"),
  );
  expect(server.requests[0]?.path).toMatch(/chat\/completions$/);

  // 8: the call reached its tool, and its result the model.
  const shown = JSON.parse(first!) as { tools: { function: { name: string } }[] };
  expect(shown.tools.map((tool) => tool.function.name)).toEqual(
    "read write edit bash jobs grep find ls task todo tool_search call_tool".split(" "),
  );
  expect(second).toContain("apples");

  // 9: each entry was written before its event was published.
  expect(findEntryIndex("assistant")).toBeLessThan(findIndex(({ type }) => type === "message_end"));
  expect(findEntryIndex("toolResult")).toBeLessThan(findIndex(({ type }) => type === "turn_end"));
  const [folder] = await readdir(join(agentDir, "sessions"));
  const [file] = (await readdir(join(agentDir, "sessions", folder!))).filter((name) => name.endsWith(".jsonl"));
  const lines = (await readFile(join(agentDir, "sessions", folder!, file!), "utf8")).trimEnd().split("\n");
  const [stored, ...entries] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(stored).toMatchObject({ type: "session", id: header!["id"] });

  // 10: reducing the events gives what the log says.
  const view = events.reduce(reduce, emptyView);
  const written = viewFromEntries(entries as unknown as SessionEntry[]);
  const { entries: window, ...log } = view.log;
  expect(window.map(({ id }) => id)).toEqual(written.log.entries.map(({ id }) => id));
  expect(written.log).toMatchObject(log);
  expect(view.live).toMatchObject({ run: undefined, ended: { reason: "no_tool_calls" } });
});
