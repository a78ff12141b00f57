/** `tau update --self` with installations as the package managers make them, and an npm that writes down what it is asked. */
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { planUpdate, updateSelf } from "../../src/commands/update-self.ts";
import { classifyInstallation } from "../../src/hosting/installation.ts";
import { version } from "../../src/start/version.ts";
import { createIo, createWorkspace } from "../kit.ts";

const none = { address: undefined, link: undefined };

const cases: [name: string, program: string, files: string[], command: string][] = [
  [
    "npm install --global",
    "/usr/lib/node_modules/@tau/cli/dist/tau.cjs",
    [],
    "npm install --global --prefix /usr --ignore-scripts --no-audit --no-fund --loglevel=error @tau/cli@latest",
  ],
  [
    "a prefix of one's own",
    "/home/u/.npm/lib/node_modules/@tau/cli/dist/tau.cjs",
    [],
    "npm install --global --prefix /home/u/.npm --ignore-scripts --no-audit --no-fund --loglevel=error @tau/cli@latest",
  ],
  [
    "install.sh without an archive",
    "/home/u/.local/share/tau/node_modules/@tau/cli/dist/tau.cjs",
    ["/home/u/.local/share/tau/package.json"],
    "npm install --prefix /home/u/.local/share/tau --ignore-scripts --no-audit --no-fund --loglevel=error @tau/cli@latest",
  ],
  [
    "pnpm",
    "/home/u/.local/share/pnpm/global/5/node_modules/@tau/cli/dist/tau.cjs",
    [],
    "Run: pnpm add --global @tau/cli@latest",
  ],
  [
    "pnpm, by the real path",
    "/home/u/.local/share/pnpm/global/5/.pnpm/@tau+cli@0.1.0/node_modules/@tau/cli/dist/tau.cjs",
    [],
    "Run: pnpm add --global @tau/cli@latest",
  ],
  [
    "bun",
    "/home/u/.bun/install/global/node_modules/@tau/cli/dist/tau.cjs",
    ["/home/u/.bun/install/global/package.json"],
    "Run: bun add --global @tau/cli@latest",
  ],
  [
    "yarn",
    "/home/u/.config/yarn/global/node_modules/@tau/cli/dist/tau.cjs",
    ["/home/u/.config/yarn/global/package.json"],
    "Run: yarn global add @tau/cli@latest",
  ],
  [
    "npx",
    "/home/u/.npm/_npx/0123abcd/node_modules/@tau/cli/dist/tau.cjs",
    ["/home/u/.npm/_npx/0123abcd/package.json"],
    "npx @tau/cli@latest",
  ],
  [
    "a clone",
    "/src/tau/packages/cli/dist/tau.cjs",
    ["/src/tau/install.sh", "/src/tau/packages/cli/package.json"],
    "git -C /src/tau pull",
  ],
  [
    "an archive that was unpacked by hand",
    "/opt/tau-0.1.0-linux-x64/lib/tau/dist/tau.cjs",
    ["/opt/tau-0.1.0-linux-x64/archive.json"],
    "sh /opt/tau-0.1.0-linux-x64/install.sh ARCHIVE",
  ],
  ["something else", "/opt/bundle/tau.cjs", [], "Install it again"],
];

test.each(cases)("%s is recognised by where the program is", (_name, program, files, command) => {
  const plan = planUpdate(
    classifyInstallation(program, (path) => files.includes(path)),
    none,
    false,
  );
  expect(plan.kind === "run" ? plan.argv.join(" ") : plan.text).toContain(command);
});

test("an archive of install.sh is updated from its address, into the same directories", () => {
  const program = "/home/u/.local/share/tau/versions/0123456789abcdef/lib/tau/dist/tau.cjs";
  const root = "/home/u/.local/share/tau/versions/0123456789abcdef";
  const installation = classifyInstallation(program, (path) => path === join(root, "archive.json"));
  const address = "https://example.com/tau-linux-x64.tar.gz";
  expect(planUpdate(installation, { address, link: "/home/u/bin" }, false)).toEqual({
    kind: "run",
    argv: ["sh", join(root, "install.sh"), address],
    env: { TAU_HOME: "/home/u/.local/share/tau", TAU_BIN: "/home/u/bin" },
  });
  expect(planUpdate(installation, { address: undefined, link: "/home/u/bin" }, false)).toMatchObject({ kind: "say" });
});

test("on Windows the command is printed, because files of a running program cannot be replaced there", () => {
  const prefix = "C:\\Program Files\\nodejs";
  const plan = planUpdate({ kind: "npm-global", prefix, modules: `${prefix}\\node_modules` }, none, true);
  expect(plan).toMatchObject({ kind: "say", text: expect.stringContaining(`--prefix "${prefix}" `) as string });
});

/** An installation in a prefix, and an npm that makes it this version, or fails. */
async function createInstallation(installs: string) {
  const workspace = await createWorkspace();
  const prefix = join(workspace.directory, "prefix");
  const modules = join(prefix, "lib", "node_modules");
  const manifest = join(modules, "@tau", "cli", "package.json");
  const asked = join(workspace.directory, "asked");
  const npm = join(workspace.directory, "bin", "npm");
  await mkdir(dirname(manifest), { recursive: true });
  await mkdir(dirname(npm));
  const isError = !/^\d/.test(installs);
  const act = isError ? `echo '${installs}' >&2; exit 243` : `echo '{"version":"${installs}"}' >'${manifest}'`;
  await writeFile(npm, `#!/bin/sh\necho "$@" >'${asked}'\n${act}\n`);
  await chmod(npm, 0o755);
  const { io, written } = createIo(workspace, { env: { PATH: `${dirname(npm)}:/usr/bin:/bin` } });
  const code = await updateSelf(io, { kind: "npm-global", prefix, modules });
  return { code, written, asked: existsSync(asked) ? await readFile(asked, "utf8") : "", prefix };
}

test("npm updates a global installation in its own prefix, and the new version is named", async () => {
  const { code, written, asked, prefix } = await createInstallation("9.8.7");
  expect({ code, out: written.out }).toEqual({ code: undefined, out: `tau is now 9.8.7 (was ${version}).\n` });
  expect(asked).toMatch(new RegExp(`^install --global --prefix ${prefix} .*@tau/cli@latest\n$`));
  expect(written.err).toContain("npm install --global");
  expect((await createInstallation(version)).written.out).toBe(`tau ${version} is the newest.\n`);
});

test("an update that fails says why, and that nothing has changed", async () => {
  const { code, written } = await createInstallation("EACCES: permission denied");
  expect(code).toBe(1);
  expect(written.out).toBe("");
  expect(written.err).toContain("EACCES: permission denied");
  expect(written.err).toContain(`tau was not updated: npm ended with 243. It is ${version}, as before.`);
});
