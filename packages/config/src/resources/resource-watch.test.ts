/** Files change while they are watched. */
import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { createResourceLoader, type ResourceLoaderOptions } from "./resource-loader.ts";

const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nDo it.\n`;

async function createDirectory(files: Record<string, string> = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-resource-watch-")));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const save = async (name: string, content: string) => {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  };
  await save("project/notes", "");
  for (const [name, content] of Object.entries(files)) await save(name, content);
  return { root, save };
}

async function openWatched(root: string, options: Partial<ResourceLoaderOptions> = {}) {
  const loader = await createResourceLoader({
    cwd: join(root, "project"),
    agentDir: join(root, "agent"),
    home: join(root, "home"),
    isProjectTrusted: () => true,
    watch: true,
    ...options,
  });
  onTestFinished(loader.subscribe(() => {}));
  const getTexts = () => {
    const { systemPrompt, contextFiles, skills, promptTemplates, agent } = loader.resources;
    return [
      ...(systemPrompt ? [`system ${systemPrompt.content}`] : []),
      ...contextFiles.filter(({ path }) => path.startsWith(root)).map(({ content }) => `context ${content}`),
      ...skills.map(({ name }) => `skill ${name}`),
      ...promptTemplates.map(({ name, content }) => `template ${name}: ${content}`),
      ...(agent?.tools.only ?? []).map((name) => `tool ${name}`),
    ];
  };
  const settles = async (...texts: string[]) => {
    await expect.poll(getTexts).toEqual(texts);
  };
  return { settles };
}

test("files and directories that did not exist are noticed, and so are their changes and their removal", async () => {
  const { root, save } = await createDirectory();
  const { settles } = await openWatched(root);
  await save("project/AGENTS.md", "one");
  await settles("context one");
  await save("project/AGENTS.md", "two");
  await settles("context two");
  await save("project/.tau/skills/group/deep/SKILL.md", skill("deep"));
  await settles("context two", "skill deep");
  await save("project/.tau/prompts/fix.md", "Fix.");
  await settles("context two", "skill deep", "template fix: Fix.");
  await rm(join(root, "project/.tau"), { recursive: true });
  await settles("context two");
  await save("project/.tau/skills/deep/SKILL.md", skill("deep"));
  await save("agent/SYSTEM.md", "mine");
  await settles("system mine", "context two", "skill deep");
  await rm(join(root, "project/AGENTS.md"));
  await settles("system mine", "skill deep");
});

test("an editor that renames a new file over the old one is noticed each time", async () => {
  const { root, save } = await createDirectory({ "project/AGENTS.md": "zero" });
  const { settles } = await openWatched(root);
  for (const content of ["one", "two", "three"]) {
    await save("project/AGENTS.md.tmp", content);
    await rename(join(root, "project/AGENTS.md.tmp"), join(root, "project/AGENTS.md"));
    await settles(`context ${content}`);
  }
});

test("the target of a linked skill is watched", async () => {
  const { root, save } = await createDirectory({ "elsewhere/one/SKILL.md": skill("one"), "agent/skills/x/notes": "" });
  await symlink(join(root, "elsewhere/one"), join(root, "agent/skills/one"));
  const { settles } = await openWatched(root);
  await settles("skill one");
  await save("elsewhere/one/SKILL.md", skill("two"));
  await settles("skill two");
});

test("the files of a named agent are watched", async () => {
  const { root, save } = await createDirectory({ "agent/agents/reviewer/tools.yaml": "tools: [read]" });
  const { settles } = await openWatched(root, { agentName: "reviewer" });
  await save("agent/agents/reviewer/tools.yaml", "tools: [read, grep]");
  await settles("tool read", "tool grep");
  await save("agent/agents/reviewer/system-prompt.md", "You review.");
  await settles("system You review.", "tool read", "tool grep");
});

const canLimitWatches =
  spawnSync("unshare", ["-Ur", "sh", "-c", "echo 3 > /proc/sys/user/max_inotify_watches"]).status === 0;

test.runIf(canLimitWatches)(
  "without watches left the user is told once, everything else works, and the process ends by itself",
  async () => {
    const { root } = await createDirectory({ "project/AGENTS.md": "one" });
    const outfile = join(root, "watch.mjs");
    const contents = `
      import { appendFileSync } from "node:fs";
      import { createResourceLoader } from "./resource-loader.ts";
      const [cwd, agentDir] = process.argv.slice(2);
      const loader = await createResourceLoader({ cwd, agentDir, watch: true });
      loader.subscribe(() => {});
      appendFileSync(cwd + "/AGENTS.md", " two");
      await loader.reload();
      const { contextFiles } = loader.resources;
      console.log(JSON.stringify([contextFiles.at(-1).content, loader.problems.map(({ kind, message }) => kind + " " + message)]));
    `;
    const stdin = { contents, resolveDir: import.meta.dirname, loader: "ts" as const };
    const conditions = ["@tau/source"];
    await build({ stdin, outfile, bundle: true, platform: "node", format: "esm", packages: "bundle", conditions });
    const command = `echo 3 > /proc/sys/user/max_inotify_watches; exec "$0" "$@"`;
    const args = ["-Ur", "sh", "-c", command, process.execPath, outfile, join(root, "project"), join(root, "agent")];
    const { stdout } = await promisify(execFile)("unshare", args, { timeout: 120_000 });
    const [content, problems] = JSON.parse(stdout) as [string, string[]];
    expect(content).toBe("one two");
    expect(problems).toEqual([expect.stringMatching(/^unwatched .*ENOSPC.*Changes take effect after a reload\.$/)]);
  },
);
