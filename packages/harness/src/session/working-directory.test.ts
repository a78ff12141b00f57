import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHost } from "../host/host.ts";
import { SessionManager } from "./session-manager.ts";
import { getWorkingDirectory } from "./working-directory.ts";

async function createDirectories() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-directory-")));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const [here, there] = [join(root, "here"), join(root, "there")];
  for (const directory of [here, there]) await mkdir(directory);
  await symlink(here, join(root, "link"));
  return { here, there, link: join(root, "link"), agentDir: join(root, "agent") };
}

test("a session works in its own directory, and a link to that is the same directory", async () => {
  const { here, there, link } = await createDirectories();
  const session = await SessionManager.inMemory(here);
  expect(await getWorkingDirectory(session, here)).toBe(here);
  expect(await getWorkingDirectory(session, link)).toBe(link);
  expect(await getWorkingDirectory(session, there)).toBe(here);
});

test.for(["gone", "now a file"])(
  "a session whose directory is %s is refused, with the way to continue",
  async (now) => {
    const { here, there } = await createDirectories();
    const session = await SessionManager.inMemory(there);
    await rm(there, { recursive: true });
    if (now === "now a file") await writeFile(there, "");
    const refused = { code: "invalid_input", message: expect.stringMatching(/not there any more.*tau --fork/) };
    await expect(getWorkingDirectory(session, here)).rejects.toMatchObject(refused);
  },
);

test("a host opens sessions of its own directory only, and gives up the log of another one", async () => {
  const { here, there, agentDir } = await createDirectories();
  const session = await SessionManager.create(there, undefined, { agentDir });
  await session.appendSessionInfo("Far away");
  const host = createHost({ agentDir, params: { cwd: here, agentDir } });
  onTestFinished(() => host.dispose());
  await expect(host.open(session)).rejects.toMatchObject({ code: "invalid_input" });
  const again = await SessionManager.open(session.getSessionFile()!, { agentDir });
  onTestFinished(() => again.close());
  expect(again.readOnly).toBeUndefined();
});
