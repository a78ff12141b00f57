/** Tests the resources that installed packages bring to sessions. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, run, textReply } from "./kit.ts";

async function write(directory: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
}

const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nDo it.\n`;

async function create(entry: unknown) {
  const workspace = await createModelWorkspace(Array.from({ length: 3 }, () => textReply("ok")));
  const { directory, server } = workspace;
  await write(directory, {
    "pack/skills/fix/SKILL.md": skill("fix"),
    "pack/skills/test/SKILL.md": skill("test"),
    "pack/prompts/greet.md": "Say hello to $1.",
    ".agent/settings.json": JSON.stringify({ defaultModel: "acme/small", packages: [entry] }),
  });
  return { workspace, getText: () => JSON.stringify(server.requests.at(-1)?.body) };
}

test("skills and prompt templates of a package are those of a session", async () => {
  const { workspace, getText } = await create("../pack");
  expect(await run(workspace, ["-p", "/greet Ann"])).toMatchObject({ code: 0 });
  expect(getText()).toContain("does fix");
  expect(getText()).toContain("Say hello to Ann.");
});

test("filters of the settings and flags leave them out", async () => {
  const { workspace, getText } = await create({ source: "../pack", skills: ["!fix"], prompts: [] });
  await run(workspace, ["-p", "/greet Ann"]);
  expect(getText()).toContain("does test");
  expect(getText()).not.toContain("does fix");
  expect(getText()).toContain("/greet Ann");
  await run(workspace, ["-p", "-ns", "Hi"]);
  expect(getText()).not.toContain("does test");
});

test("a project that is not trusted brings none", async () => {
  const { workspace, getText } = await create("../nothing");
  await write(workspace.directory, { ".tau/settings.json": JSON.stringify({ packages: ["../pack"] }) });
  await run(workspace, ["-p", "Hi"]);
  expect(getText()).not.toContain("does fix");
  await run(workspace, ["-p", "-a", "Hi"]);
  expect(getText()).toContain("does fix");
});

test("a session names the packages of pi once", async () => {
  const { workspace } = await create("../pack");
  await write(workspace.directory, { ".pi/agent/settings.json": JSON.stringify({ packages: ["npm:theirs"] }) });
  expect((await run(workspace, ["-p", "Hi"])).err).toContain(
    "npm:theirs. To look at them and install them: tau install --from-pi",
  );
  expect((await run(workspace, ["-p", "Hi"])).err).not.toContain("npm:theirs");
});
