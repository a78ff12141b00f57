/**
 * The sandbox of macOS where there is none: programs stand in for `sandbox-exec` that keep what they are told, and hold a command
 * as little as it is said. So the rules are not tested here, but that tau relies on nothing that it has not seen to hold.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createSeatbeltSandbox } from "../src/seatbelt/seatbelt-sandbox.ts";
import { judge, trySeatbelt } from "../src/seatbelt/trial.ts";
import { defaultSandboxSettings, type SandboxSettings } from "../src/settings.ts";

/** `body`: lines of a shell, in which `"$@"` is the command inside. */
function setUp(body: string) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-seatbelt-test-")));
  const program = join(directory, "sandbox-exec");
  const args = join(directory, "arguments");
  const skipOptions = `while [ "$1" = -D ] || [ "$1" = -p ]; do shift 2; done`;
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > ${args}\n${skipOptions}\n${body}\n`);
  chmodSync(program, 0o755);
  const [workspace, home] = [join(directory, "app"), join(directory, "home")];
  for (const path of [workspace, join(home, ".ssh")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, ".ssh", "id_ed25519"), "a key");
  const open = (settings: Partial<SandboxSettings> = {}, more: { hidesMachine?: boolean } = {}) =>
    createSeatbeltSandbox(
      {
        cwd: workspace,
        home,
        agentDir: join(home, ".tau"),
        settings: { ...defaultSandboxSettings, seatbelt: true, ...settings },
        temporaryDirectories: [join(directory, "tmp")],
        ...more,
      },
      program,
    );
  return {
    program,
    workspace,
    open,
    readArguments: () => readFileSync(args, "utf8"),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** A process that has ended may wait for its parent. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Answers the trial as a system that holds, and runs every other command. */
const obedient = `case "$3" in *"read a hidden file"*) echo '{"write to the workspace":true,"read the workspace":true,"connect to the proxy":true,"read a hidden file":false,"write outside":false,"read a hidden file by another name":false,"write a hook of git":false,"write a hook of git in another case":false,"rename the git directory":false,"connect to a server of this machine":false}';; *) exec "$@";; esac`;

test("a sandbox that holds nothing is not relied on", async () => {
  using place = setUp(`exec "$@"`);
  const state = await trySeatbelt(place.program);
  expect(state.kind).toBe("unavailable");
  const { reason } = state as { reason: string };
  for (const leak of ["read a hidden file", "write outside", "a hook of git", "rename", "connect to a server"])
    expect(reason).toContain(leak);
  expect(reason).not.toContain("cannot");
  const request = { argv: ["true"] as const, cwd: place.workspace, env: {} };
  expect(await place.open().enter({ ...request, argv: ["true"] })).toBeUndefined();
  await expect(place.open({ mode: "required" }).enter({ ...request, argv: ["true"] })).rejects.toThrow(/does not work/);
});

test("nor is one that refuses what commands need, cannot be started, or is missing", async () => {
  using refusing = setUp(`echo "profile: unbound variable" >&2; exit 65`);
  expect(await trySeatbelt(refusing.program)).toMatchObject({
    kind: "unavailable",
    reason: expect.stringContaining("profile: unbound variable"),
  });
  expect(await trySeatbelt(join(refusing.workspace, "missing"))).toMatchObject({ kind: "unavailable" });
  expect(judge('{"write to the workspace":false}', "")).toMatchObject({
    kind: "failed",
    reason: expect.stringContaining("a command cannot write to the workspace"),
  });
});

test("a session for somebody else needs a sandbox that hides the machine", async () => {
  using place = setUp(obedient);
  expect(await place.open({}, { hidesMachine: true }).getState()).toMatchObject({ kind: "unavailable" });
});

test("a command is started with the rules of its session, and ends with its group", async () => {
  using place = setUp(obedient);
  const sandbox = place.open({ network: { allow: ["example.com", "localhost:5432"] } });
  expect(await sandbox.getState()).toMatchObject({ kind: "works", with: "seatbelt" });
  const entry = (await sandbox.enter({
    argv: ["sh", "-c", 'sleep 300 & echo "$TMPDIR $HTTPS_PROXY $PWD $!"; >printed; sleep 300'],
    cwd: place.workspace,
    env: { PATH: process.env["PATH"]!, SSH_AUTH_SOCK: "/of/the/person" },
  }))!;
  const command = await entry.start({ maxFiles: undefined, maxProcesses: undefined });
  const output = readText(command.stdout);
  await expect.poll(() => existsSync(join(place.workspace, "printed"))).toBe(true);
  const args = place.readArguments();
  expect(args).toContain("sleep 300");
  const port = /remote ip "localhost:(\d+)"/.exec(args)![1]!;
  expect(args).toContain('(allow network-outbound (remote ip "localhost:5432"))');
  expect(args).toContain(`=${place.workspace}\n`);
  expect(args).toMatch(/=\S+\/home\/\.ssh\/id_ed25519\n/);
  expect(args).toContain("[.][gG][iI][tT]/[hH][oO][oO][kK][sS](/|$)");
  command.killAll();
  expect(await command.exit).toMatchObject({ kind: "signalled" });
  const [temporary = "", proxy, cwd, job] = (await output).trim().split(" ");
  expect([proxy, cwd]).toEqual([`http://127.0.0.1:${port}`, place.workspace]);
  expect(args).toContain(`=${temporary}\n`);
  await expect.poll(() => isRunning(Number(job))).toBe(false);
  const report = await entry.finish({
    hasFailed: true,
    output: "touch: /usr/x: Operation not permitted",
  });
  expect(report.notices.join()).toContain("The sandbox keeps /usr/x read-only.");
  await sandbox.close();
});
