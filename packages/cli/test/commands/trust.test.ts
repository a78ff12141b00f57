import { writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createModelWorkspace, run, type RunOptions, textReply } from "../kit.ts";
import { type Json, serve } from "../rpc-kit.ts";

async function createProject() {
  const workspace = await createModelWorkspace(Array.from({ length: 12 }, () => textReply("ok")));
  const projectDir = join(workspace.directory, ".tau");
  await mkdir(projectDir);
  await writeFile(join(projectDir, "settings.json"), '{ "defaultProvider": "acme", "defaultModel": "large" }');
  await writeFile(join(projectDir, "SYSTEM.md"), "You obey the project.");
  await writeFile(join(projectDir, "APPEND_SYSTEM.md"), "And its appendix.");
  await writeFile(join(projectDir, "models.json"), '{ "providers": { "acme": { "baseUrl": "http://127.0.0.1:9" } } }');
  const ask = async (args: readonly string[] = [], options: RunOptions = {}) => {
    const { code, err } = await run(workspace, [...args, "-p", "Hi"], options);
    expect(code).toBe(0);
    const body = workspace.server.requests.at(-1)!.body as { model: string };
    return { model: body.model, obeys: /You obey the project|And its appendix/.test(JSON.stringify(body)), err };
  };
  return { workspace, projectDir, ask };
}

test("a project chooses neither model nor system prompt before it is trusted, and is told how", async () => {
  const { workspace, projectDir, ask } = await createProject();
  const before = await ask();
  expect(before).toMatchObject({ model: "small", obeys: false });
  for (const name of ["defaultProvider", "defaultModel", "SYSTEM.md", "APPEND_SYSTEM.md"]) {
    expect(before.err.split("\n").find((line) => line.includes(name))).toContain("tau trust");
  }
  const { out } = await run(workspace, ["trust"]);
  for (const name of ["settings.json", "SYSTEM.md", "APPEND_SYSTEM.md"]) expect(out).toContain(`.tau/${name}`);
  expect(await ask()).toEqual({ model: "large", obeys: true, err: "" });
  // Trust is about the files that the user saw.
  await writeFile(join(projectDir, "APPEND_SYSTEM.md"), "And its appendix, changed.");
  expect(await ask()).toMatchObject({ model: "small", obeys: false });
  await run(workspace, ["trust"]);
  await run(workspace, ["trust", "--revoke"]);
  expect(await ask()).toMatchObject({ model: "small", obeys: false });
});

test("trust is bound to the files behind a link to a directory, also if links lead in a circle", async () => {
  const { workspace, projectDir, ask } = await createProject();
  const target = join(workspace.directory, "shared");
  await rename(projectDir, target);
  await symlink("shared", projectDir);
  await symlink(".", join(target, "again"));
  const { out } = await run(workspace, ["trust"]);
  expect(out).toContain('".tau/SYSTEM.md"');
  expect(await ask()).toMatchObject({ model: "large", obeys: true });
  await writeFile(join(target, "SYSTEM.md"), "You obey the project, whatever it says now.");
  expect(await ask()).toMatchObject({ model: "small", obeys: false });
});

test("trust is bound to the skills, templates and themes in the project that its settings name", async () => {
  const { workspace, projectDir, ask } = await createProject();
  const { directory } = workspace;
  const names = ["tools/fix.md", "prompts/ask.md", "look.json"];
  for (const name of ["tools", "prompts"]) await mkdir(join(directory, name));
  for (const name of names) await writeFile(join(directory, name), "{}");
  const lists = { skills: ["../tools", "!*.txt"], prompts: [`+${directory}/prompts/ask.md`], themes: ["../look.json"] };
  const settings = JSON.stringify({ defaultModel: "acme/large", ...lists });
  await writeFile(join(projectDir, "settings.json"), `${settings} // may have comments`);
  for (const name of names) {
    const { out } = await run(workspace, ["trust"]);
    for (const each of names) expect(out).toContain(`"${each}"`);
    expect(await ask()).toMatchObject(trusted);
    await writeFile(join(directory, name), "{ }");
    expect(await ask()).toMatchObject(untrusted);
  }
});

test("set_trust counts at once in the open session, and in those that are opened later", async () => {
  const { workspace, ask } = await createProject();
  const rpc = serve(workspace);
  await rpc.ask("set_trust", { trusted: true });
  await rpc.ask("prompt", { message: "Hi" });
  await rpc.seen(({ type }) => type === "agent_end");
  await rpc.close();
  expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).toContain("You obey the project.");
  expect(await ask()).toMatchObject({ model: "large", obeys: true });
});

/** An open session of a trusted project: `prompt` answers with what the model was sent. */
async function openTrusted() {
  const { workspace, projectDir } = await createProject();
  await run(workspace, ["trust"]);
  const rpc = serve(workspace);
  let runs = 0;
  const isEnd = ({ type }: Json) => type === "agent_settled";
  const prompt = async () => {
    await rpc.ask("prompt", { message: "Hi" });
    runs++;
    await rpc.seen(() => rpc.records.filter(isEnd).length === runs);
    return JSON.stringify(workspace.server.requests.at(-1)!.body);
  };
  const getNotices = () =>
    rpc.records.filter(({ type, message }) => type === "notice" && String(message).includes("tau trust"));
  return { workspace, projectDir, rpc, prompt, getNotices };
}

test("files of a project that change while a session is open end its trust, until the user trusts it again", async () => {
  const { workspace, projectDir, rpc, prompt, getNotices } = await openTrusted();
  await rpc.ask("set_setting", { key: "theme", value: "dark", scope: "project" });
  await writeFile(join(workspace.directory, "AGENTS.md"), "Use tabs here.");
  await rpc.ask("reload");
  const before = await prompt();
  expect(before).toContain("You obey the project.");
  expect(before).toContain("Use tabs here.");
  expect(getNotices()).toEqual([]);
  await writeFile(join(projectDir, "SYSTEM.md"), "You obey somebody else.");
  await rpc.ask("reload");
  const after = await prompt();
  expect(after).toContain("Use tabs here.");
  expect(after).not.toMatch(/You obey|And its appendix/);
  await rpc.ask("reload");
  expect(getNotices()).toMatchObject([{ message: expect.stringContaining("changed after you trusted it") }]);
  await run(workspace, ["trust"]);
  await rpc.ask("reload");
  expect(await prompt()).toContain("You obey somebody else.");
  await rpc.close();
});

test("settings that change while a session is open need trust again, without a reload by command too", async () => {
  const { projectDir, rpc, prompt } = await openTrusted();
  expect(await prompt()).toContain("You obey the project.");
  await writeFile(join(projectDir, "settings.json"), '{ "shellPath": "/bin/evil" }');
  await rpc.seen(({ type, message }) => type === "notice" && String(message).includes("changed after you trusted it"));
  const { data } = (await rpc.ask("get_settings")) as { data: { settings: Json } };
  expect(data.settings["shellPath"]).toBeUndefined();
  await rpc.ask("reload");
  expect(await prompt()).not.toContain("You obey the project.");
  await rpc.close();
});

const trusted = { model: "large", obeys: true };
const untrusted = { model: "small", obeys: false };
const terminal = { input: true, err: true };

const setTrust = (agentDir: string, value: string) =>
  writeFile(
    join(agentDir, "settings.json"),
    JSON.stringify({ defaultModel: "acme/small", defaultProjectTrust: value }),
  );

test("--approve and --no-approve trust and distrust the project in one process, and store nothing", async () => {
  const { workspace, ask } = await createProject();
  const before = await readdir(workspace.agentDir);
  expect(await ask(["-a"])).toEqual({ ...trusted, err: "" });
  expect(await ask(["--approve"])).toMatchObject(trusted);
  // What was found of npm's global packages is kept in `cache`.
  const known = [...before, "cache"];
  expect((await readdir(workspace.agentDir)).filter((name) => !known.includes(name))).toEqual(["sessions"]);
  expect(await ask()).toMatchObject(untrusted);
  await run(workspace, ["trust"]);
  expect(await ask(["-na"])).toMatchObject(untrusted);
  expect(await ask()).toMatchObject(trusted);
  const both = await run(workspace, ["-a", "-na", "-p", "Hi"]);
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining("do not go together") });
});

test("a change of settings in a project that is trusted for one run stores no trust", async () => {
  const { workspace, ask } = await createProject();
  const rpc = serve(workspace, { args: ["-a"] });
  await rpc.ask("set_setting", { key: "theme", value: "dark", scope: "project" });
  await rpc.close();
  expect(await ask()).toMatchObject(untrusted);
});

test("defaultProjectTrust counts in the user's own settings, and --approve wins over it", async () => {
  const { workspace, projectDir, ask } = await createProject();
  await setTrust(workspace.agentDir, "always");
  expect(await ask()).toMatchObject(trusted);
  await run(workspace, ["trust"]);
  await setTrust(workspace.agentDir, "never");
  expect(await ask()).toMatchObject(untrusted);
  expect((await run(workspace, ["trust"])).err).toContain('defaultProjectTrust is "never"');
  expect(await ask(["-a"])).toMatchObject(trusted);
  await run(workspace, ["trust", "--revoke"]);
  await setTrust(workspace.agentDir, "ask");
  await writeFile(join(projectDir, "settings.json"), '{ "defaultModel": "large", "defaultProjectTrust": "always" }');
  const { err, ...result } = await ask();
  expect(result).toEqual(untrusted);
  expect(err).toContain("A project may not set defaultProjectTrust");
});

test("on a terminal the user is asked before anything counts, and a yes is stored until a file changes", async () => {
  const { projectDir, ask } = await createProject();
  await mkdir(join(projectDir, "skills"));
  const no = await ask([], { terminal, input: "\n" });
  expect(no).toMatchObject(untrusted);
  for (const text of ["the setting defaultModel", ".tau/SYSTEM.md", ".tau/skills", ".tau/models.json"])
    expect(no.err).toContain(text);
  expect(no.err).toContain("tau trust");
  expect(await ask([], { terminal, input: "y\n" })).toMatchObject(trusted);
  const after = await ask([], { terminal, input: "" });
  expect(after).toMatchObject(trusted);
  expect(after.err).not.toContain("Trust it");
  await writeFile(join(projectDir, "SYSTEM.md"), "You obey somebody else.");
  const changed = await ask([], { terminal, input: "n\n" });
  expect(changed).toMatchObject(untrusted);
  expect(changed.err).toContain("have changed since you trusted it");
});

test("the question after a change says which files were added, changed and removed", async () => {
  const { workspace, projectDir, ask } = await createProject();
  await run(workspace, ["trust"]);
  await writeFile(join(projectDir, "SYSTEM.md"), "You obey somebody else.");
  await writeFile(join(projectDir, "new\u001b[2J.md"), "");
  await rm(join(projectDir, "APPEND_SYSTEM.md"));
  const { err } = await ask([], { terminal, input: "n\n" });
  const lines = ["added .tau/new\\u001b[2J.md", "changed .tau/SYSTEM.md", "removed .tau/APPEND_SYSTEM.md"];
  for (const line of lines) expect(err).toContain(`  ${line.replace(" ", ' "')}"\n`);
  expect(err).not.toContain('changed ".tau/models.json');
});

test("a file that changes while the question is open is not trusted by its answer", async () => {
  const { projectDir, ask } = await createProject();
  const input = new PassThrough();
  const onErr = (err: string) => {
    if (!err.endsWith("[y/N] ")) return;
    writeFileSync(join(projectDir, "SYSTEM.md"), "You obey the project, and run what it says.");
    input.write("y\n");
  };
  const answer = await ask([], { terminal, input, onErr });
  expect(answer).toMatchObject(untrusted);
  expect(answer.err).toContain("your answer does not count");
  expect(await ask()).toMatchObject(untrusted);
});

test("a skill of the project that is added or changed ends its trust", async () => {
  const { workspace, ask } = await createProject();
  await run(workspace, ["trust"]);
  expect(await ask()).toMatchObject(trusted);
  const skill = join(workspace.directory, ".agents", "skills", "review");
  await mkdir(skill, { recursive: true });
  await writeFile(join(skill, "SKILL.md"), "---\nname: review\ndescription: Reviews.\n---\nDo it.");
  expect(await ask()).toMatchObject(untrusted);
});

test("nobody is asked without a terminal, without something that needs trust, or with a flag", async () => {
  const { workspace, projectDir, ask } = await createProject();
  for (const options of [{}, { terminal: { input: true, err: false } }]) {
    const { err, ...result } = await ask([], options);
    expect(result).toEqual(untrusted);
    expect(err).not.toContain("Trust it");
  }
  expect((await ask(["-na"], { terminal, input: "y\n" })).err).not.toContain("Trust it");
  for (const name of await readdir(projectDir)) await writeFile(join(projectDir, name), "{}");
  const { err } = await run(workspace, ["--mode", "json", "-p", "Hi"], { terminal, input: "y\n" });
  expect(err).not.toContain("Trust it");
});

test("pi's trust.json is left as it is: a no of the nearest directory counts, a yes has to be given again", async () => {
  const { workspace, ask } = await createProject();
  const file = join(workspace.agentDir, "trust.json");
  const write = (decisions: object) => writeFile(file, JSON.stringify(decisions));
  await write({ [workspace.directory]: true });
  expect(await ask()).toMatchObject(untrusted);
  expect((await ask([], { terminal, input: "n\n" })).err).toContain("Trust it");
  await write({ "/": true, [workspace.directory]: false });
  expect((await ask([], { terminal, input: "y\n" })).err).not.toContain("Trust it");
  await run(workspace, ["trust"]);
  expect(await ask()).toMatchObject(trusted);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ "/": true, [workspace.directory]: false });
});

test("a project with more files than anybody could look at runs untrusted, and nobody is asked", async () => {
  const { projectDir, ask } = await createProject();
  await mkdir(join(projectDir, "many"));
  await Promise.all(Array.from({ length: 2_001 }, (_, index) => writeFile(join(projectDir, "many", `${index}`), "")));
  const { err, ...result } = await ask([], { terminal, input: "y\n" });
  expect(result).toEqual(untrusted);
  expect(err).toContain("cannot be trusted");
  expect(err).not.toContain("Trust it");
});
