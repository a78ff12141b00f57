/** Files on the command line, and files that cannot be written. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, run, textReply } from "./kit.ts";

test("a file that is too long is cut, and both the user and the model are told", async () => {
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two."), textReply("Three.")]);
  const { directory, server } = workspace;
  await writeFile(join(directory, "long.txt"), "a line\n".repeat(3_000));
  await writeFile(join(directory, "short.txt"), "a line\n");
  await writeFile(join(directory, "empty.txt"), "");
  const notice = `tau: ${directory}/long.txt is too long for a message: only its first 2000 lines were sent.\n`;
  expect(await run(workspace, ["-p", "@long.txt", "Read."])).toEqual({ code: 0, out: "One.\n", err: notice });
  expect(JSON.stringify(server.requests[0]?.body)).toContain("Showing lines 1-2000.");
  expect(await run(workspace, ["-p", "Read @long.txt, please."])).toMatchObject({ out: "Two.\n", err: notice });
  expect(await run(workspace, ["-p", "@short.txt", "@empty.txt", "Read."])).toMatchObject({ out: "Three.\n", err: "" });
});

test("a directory with too many entries is cut with a notice", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const many = join(workspace.directory, "many");
  await mkdir(many);
  await Promise.all(Array.from({ length: 210 }, (_, index) => writeFile(join(many, `${index}`), "")));
  const { err } = await run(workspace, ["-p", "@many", "Look."]);
  expect(err).toBe(`tau: ${many} is too long for a message: only its first 200 entries were sent.\n`);
});

test("@~ is a file of the home directory, and a missing file is an error before any request", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  vi.stubEnv("HOME", workspace.directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  await writeFile(join(workspace.directory, "note.txt"), "Buy milk.");
  await mkdir(join(workspace.directory, "inner"));
  expect(await run(workspace, ["-C", "inner", "-p", "@~/note.txt", "Do."])).toMatchObject({ code: 0, err: "" });
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("Buy milk.");
  expect(await run(workspace, ["-p", "@~/gone.txt", "Do."])).toMatchObject({
    code: exitCodes.usage,
    err: "tau: There is no file ~/gone.txt.\n",
  });
  expect(workspace.server.requests).toHaveLength(1);
});

test("a system prompt that looks like a file has to be one", async () => {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("ok")]);
  for (const flag of ["--system-prompt", "--append-system-prompt"]) {
    for (const value of ["x.md", "notes.TXT", "prompts/x", "My rules.md"]) {
      const { code, out, err } = await run(workspace, [flag, value, "-p", "Hi"]);
      expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
      expect(err).toContain(`There is no file ${join(workspace.directory, value)}.`);
    }
    const text = "Answer with yes and/or no.";
    expect(await run(workspace, [flag, text, "-p", "Hi"])).toMatchObject({ code: 0, err: "" });
  }
  expect(workspace.server.requests).toHaveLength(2);
});

test("a file that is named as a system prompt is not read if it leads to credentials or out of the project", async () => {
  const workspace = await createModelWorkspace([]);
  const { directory } = workspace;
  vi.stubEnv("HOME", directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  const project = join(directory, "project");
  await mkdir(project);
  await mkdir(join(directory, ".ssh"));
  for (const name of [".ssh/id_rsa", "notes.md"]) await writeFile(join(directory, name), "secret");
  await symlink("../.ssh/id_rsa", join(project, "key.md"));
  await symlink("../notes.md", join(project, "out.md"));
  for (const flag of ["--system-prompt", "--append-system-prompt"]) {
    for (const value of ["key.md", "out.md", "../.ssh/id_rsa"]) {
      const { code, err } = await run(workspace, ["-C", "project", flag, value, "-p", "Hi"]);
      expect({ code, err }).toMatchObject({ code: exitCodes.usage, err: expect.stringContaining("and is not read.") });
    }
  }
  expect(workspace.server.requests).toHaveLength(0);
});

test("a session that cannot be stored says which file, why, and what to do", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const file = join(workspace.directory, "file");
  await writeFile(file, "");
  const { code, out, err } = await run(workspace, ["--session-dir", file, "-p", "Hi"]);
  expect({ code, out }).toEqual({ code: exitCodes.failed, out: "" });
  expect(err).toMatch(/^tau: The session .*\/file\/.*\.jsonl could not be saved: .* \(ENOTDIR\)\./);
  expect(err).toMatch(/use --session-dir DIR; to store none, --no-session\.\n$/);
  expect(await run(workspace, ["--no-session", "-p", "Hi"])).toMatchObject({ code: 0, out: "ok\n" });
});

test("an export that cannot be written says which file and why", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  await run(workspace, ["--session-id", "job", "-p", "Hi"]);
  const err = "/dev/full could not be written: no space left on device (ENOSPC).\n";
  expect(await run(workspace, ["sessions", "export", "job", "-o", "/dev/full"])).toEqual({
    code: exitCodes.failed,
    out: "",
    err: `tau sessions: ${err}`,
  });
  expect(await run(workspace, ["--export", "job", "/dev/full"])).toMatchObject({ err: `tau: ${err}` });
});

test.each([
  [["--modle", "x", "-p", "Hi"], 'there is no option --modle. Did you mean "--mode" or "--model"'],
  [["--provider", "acmee", "-p", "Hi"], 'There is no provider "acmee". Did you mean "acme"?'],
  [["--provider", "s", "-p", "Hi"], 'There is no provider "s". The providers are: '],
  [["--max-turns", "-1", "-p", "Hi"], '--max-turns takes a number above 0, not "-1".'],
  [["config", "set", "retry.maxRetries", "-1"], "has to be a whole number of retries, 0 or more, not -1."],
])("%j is explained", async (args, message) => {
  const { code, out, err } = await run(await createModelWorkspace([]), args);
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
  expect(err).toContain(message);
});
