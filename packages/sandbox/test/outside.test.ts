/** Commands of a session for somebody else see nothing of the machine but its programs. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createSpawn } from "@tau/tools";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { listOutsideDirectories } from "../src/outside-directories.ts";
import { createSessionSandbox } from "../src/session-sandbox.ts";
import { defaultSandboxSettings } from "../src/settings.ts";
import { spawnInside } from "../src/spawn-inside.ts";
import { type Base, createBase, removeBase, users } from "./kit.ts";

let base: Base;
beforeAll(async () => {
  base = await createBase();
});
afterAll(() => removeBase(base));

test("directories of the system are shown, but not the neighbours of a workspace in one", () => {
  const names = ["bin", "usr", "etc", "tmp", "srv", "home", "var"];
  expect(listOutsideDirectories(names, "/srv/tenants/1")).toEqual(["/srv", "/home", "/var"]);
  expect(listOutsideDirectories(names, "/usr/src/tenants/1")).toEqual(["/srv", "/home", "/var", "/usr/src"]);
  expect(listOutsideDirectories(names, "/tmp/tenants/1")).toEqual(["/srv", "/home", "/var"]);
});

/** Tenants with a repository around them, below a directory that is no temporary one. */
function createTenants(parent: string) {
  const root = realpathSync(mkdtempSync(join(parent, "tau-tenants-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  execFileSync("git", ["init", "-q", root]);
  for (const name of ["mine", "other"]) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "secret.txt"), `${name}-secret`);
  }
  return { root, mine: join(root, "mine"), other: join(root, "other") };
}

async function runIn(cwd: string, script: string, helper: string | false): Promise<string> {
  const settings = { ...defaultSandboxSettings, mode: "required" as const };
  const agentDir = mkdtempSync(join(tmpdir(), "tau-agent-"));
  const sandbox = createSessionSandbox({ cwd, home: homedir(), agentDir, settings, helper, hidesMachine: true });
  onTestFinished(async () => {
    await sandbox.close();
    rmSync(agentDir, { recursive: true });
  });
  const argv = ["sh", "-c", `{ ${script}\n} 2>&1`] as const;
  const env = { PATH: "/usr/bin:/bin" };
  const { stdout, exit } = await spawnInside(sandbox, createSpawn(), { argv, cwd, env, stdin: "none" });
  let text = "";
  for await (const piece of stdout) text += String(piece);
  await exit;
  return text;
}

const parents = [tmpdir(), homedir(), "/var/lib", "/usr/src"].filter((path) => existsSync(path));

for (const way of ["session", "command"] as const) {
  test(`commands see their workspace and programs, and no neighbour, in a sandbox for each ${way}`, async ({
    skip,
  }) => {
    skip(users.length === 0, "bubblewrap is not installed");
    const helper = way === "session" ? base.helper : false;
    if (helper === undefined) return skip("there is no C compiler");
    const usable = parents.filter((parent) => process.getuid?.() === 0 || parent === tmpdir() || parent === homedir());
    for (const parent of usable) {
      const { root, mine, other } = createTenants(parent);
      const script = `cat secret.txt; echo; cat ${other}/secret.txt; ls ${root}; cat ${root}/.git/config; git --version; echo x > made; echo y > ${other}/made; ls ${homedir()} /home /var/lib; readlink -f /proc/1/cwd; cat /proc/*/environ | tr '\\0' '\\n' | grep HOME`;
      const text = await runIn(mine, script, helper);
      expect(text).toMatch(/^mine-secret/);
      expect(text).toContain("git version");
      expect(text).not.toContain("other-secret");
      expect(text).not.toContain("repositoryformatversion");
      expect(text).not.toContain(`HOME=${homedir()}`);
      expect(existsSync(join(mine, "made"))).toBe(true);
      expect(existsSync(join(other, "made"))).toBe(false);
    }
  });
}
