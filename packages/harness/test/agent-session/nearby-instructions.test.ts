/** Instructions of directories below the working directory, in sessions. */
import { call, text } from "@tau/ai/testing";
import { createTestSession, type TestSessionParams } from "@tau/harness/testing";
import { createResourceLoader } from "@tau/config/resources";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const files = {
  "AGENTS.md": "Rules of the root.",
  "web/CLAUDE.md": "Rules of the web.",
  "web/app/AGENTS.md": "Rules of the app.",
  "web/app/a.ts": "a",
  "web/app/b.ts": "b",
  "lib/c.ts": "c",
  "web/node_modules/x/AGENTS.md": "Rules of a package.",
  "web/node_modules/x/x.js": "x",
};

async function open(turns: Parameters<typeof createTestSession>[0], params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, { files, ...params });
  onTestFinished(() => opened.dispose());
  const results = () =>
    opened.session.messages.flatMap((message) =>
      message.role === "toolResult"
        ? [message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")]
        : [],
    );
  return { ...opened, results };
}

const read = (path: string, id: string) => call("read", { path }, id);
const listRules = (result: string | undefined) =>
  Array.from(result?.matchAll(/Rules of [\w ]+\./g) ?? [], ([rule]) => rule);

test("a call that first touches a file below a directory brings its instructions, each once", async () => {
  const { prompt, results } = await open([
    [read("lib/c.ts", "1")],
    [read("web/app/a.ts", "2")],
    [read("web/app/b.ts", "3")],
    [text("Done.")],
  ]);
  await prompt("go");
  expect(results().map(listRules)).toEqual([[], ["Rules of the web.", "Rules of the app."], []]);
});

test("a file of instructions that the call reads itself is not repeated, and packages have none", async () => {
  const { prompt, results } = await open([
    [read("web/CLAUDE.md", "1")],
    [read("web/node_modules/x/x.js", "2")],
    [text("Done.")],
  ]);
  await prompt("go");
  expect(results().map(listRules)).toEqual([["Rules of the web."], []]);
});

test("after a compaction they come again, if the summary took them out of the context", async () => {
  const settings = { compaction: { keepRecentTokens: 100, reserveTokens: 100 } };
  const long = "word ".repeat(3_000);
  const turns = [
    [read("web/app/a.ts", "1")],
    [text(long)],
    [text("Summary.")],
    [read("web/app/b.ts", "2")],
    [text("Done.")],
  ];
  const { prompt, results, session } = await open(turns, { settings });
  await prompt("go");
  expect((await session.compact()).kind).toBe("compacted");
  await prompt("on");
  expect(listRules(results().at(-1))).toEqual(["Rules of the web.", "Rules of the app."]);
});

test("before trust, and through a link that leads out of the project, none are read", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-nearby-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [cwd, agentDir] = [join(root, "work"), join(root, "agent")];
  await mkdir(join(cwd, "web"), { recursive: true });
  await mkdir(join(cwd, ".git"));
  await writeFile(join(root, "secret.md"), "Rules of a secret.");
  await writeFile(join(cwd, "web/a.ts"), "a");
  await symlink(join(root, "secret.md"), join(cwd, "web/AGENTS.md"));
  const openWith = async (isTrusted: boolean) => {
    const resourceLoader = await createResourceLoader({ cwd, agentDir, home: root, isProjectTrusted: () => isTrusted });
    return await open([[read("web/a.ts", "1")], [text("Done.")]], { files: {}, cwd, agentDir, resourceLoader });
  };
  const linked = await openWith(true);
  await linked.prompt("go");
  expect(linked.results().map(listRules)).toEqual([[]]);
  expect(linked.events.some((event) => event.type === "notice" && event.message.includes("web/AGENTS.md"))).toBe(true);
  await rm(join(cwd, "web/AGENTS.md"));
  await writeFile(join(cwd, "web/AGENTS.md"), "Rules of the web.");
  const untrusted = await openWith(false);
  await untrusted.prompt("go");
  expect(untrusted.results().map(listRules)).toEqual([[]]);
  const trusted = await openWith(true);
  await trusted.prompt("go");
  expect(trusted.results().map(listRules)).toEqual([["Rules of the web."]]);
});
