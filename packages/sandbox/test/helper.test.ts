/**
 * Tests the parts that the first process of a session's sandbox sets up for a command: most of them are one flag of one
 * call.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import type { ConfinedLimits, SpawnRequest } from "@tau/tools";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Helper, openHelper } from "../src/helper.ts";
import { getCapabilityMask, toBwrapArguments } from "../src/mounts.ts";
import { findProgram } from "../src/programs.ts";
import { createSystemCallFilter } from "../src/system-calls.ts";
import { type Base, createBase, createProjects, inProject, removeBase, runSessions, users } from "./kit.ts";

let base: Base;
beforeAll(async () => {
  base = await createBase();
});
afterAll(() => removeBase(base));

/** Reads `/proc/self/mountinfo`: the options of each mount by its path, the last one of several. */
const parseMounts = (text: string) =>
  new Map(
    text.split("\n").map((line) => {
      const [, , , , path = "", options = "", ...rest] = line.split(" ");
      return [path, [...options.split(","), rest.at(-1) ?? ""]];
    }),
  );

const count = (text: string, path: string) => text.split("\n").filter((line) => line.split(" ")[4] === path).length;

for (const user of users) {
  test(`a command has nothing of the helper's but what it needs, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined);
    const [project = ""] = await createProjects(base, user, ["helper"]);
    const commands = [
      "grep -E '^(Cap|NoNewPrivs|SigBlk|SigIgn)' /proc/self/status; grep CapPrm /proc/1/status",
      "ls /proc/self/fd; readlink /proc/self/fd/0",
      "cat /proc/self/oom_score_adj /proc/self/autogroup; ulimit -n",
      "cut -d' ' -f5,6 /proc/$$/stat; echo $$ $PPID; cut -d' ' -f6 /proc/1/stat",
      "cat /proc/1/maps /proc/1/environ; readlink /proc/1/exe; echo end",
      "env kill -q 9 -s USR1 1 2>/dev/null; kill -USR1 1; kill -TERM 1; kill -STOP 1; echo alive",
      "!echo SECRET >../home/.netrc; mkdir ../home/.gnupg; echo SECRET >../home/.gnupg/key; echo fine >.envrc; mkdir -p .vscode; echo fine >.vscode/tasks.json",
      "cat /proc/self/mountinfo; cat ~/.netrc; ls -ld ~/.gnupg",
      "cat /proc/self/autogroup",
    ];
    const session = { ...inProject(project), helper: base.helper!, commands };
    const [results = []] = await runSessions({ base, user }, [session]);
    const texts = results.map(({ text }) => text);
    const mask = getCapabilityMask(user === "root").padStart(16, "0");
    expect(texts[0]!.split("\n").at(-1)).toBe(`CapPrm:\t${mask}`);
    const status = Object.fromEntries(texts[0]!.split("\n").map((line) => line.split(":\t")));
    expect(status).toMatchObject({ CapPrm: mask, CapEff: mask, CapBnd: mask, NoNewPrivs: "1" });
    const nothing = "0".repeat(16);
    expect(status).toMatchObject({ CapInh: nothing, CapAmb: nothing, SigBlk: nothing, SigIgn: nothing });
    // The last descriptor is the directory itself.
    expect(texts[1]!.split("\n")).toEqual(["0", "1", "2", "3", "/dev/null"]);
    const [score, ...more] = texts[2]!.split("\n");
    expect(score).toBe("500");
    // The kernel lets ordinary users do that only every tenth of a second.
    if (user === "root" && existsSync("/proc/self/autogroup")) expect(more[0]).toMatch(/ nice 5$/);
    const [groups, numbers, session1] = texts[3]!.split("\n");
    const [shell, parent] = numbers!.split(" ");
    expect([groups, parent, session1]).toEqual([`${shell} 1`, "1", "1"]);
    // What goes to standard error may arrive after it.
    expect(texts[4]!.split("\n").filter((line) => !/denied|permitted/i.test(line))).toEqual(["end"]);
    expect(texts[5]).toBe("alive");
    const mounts = parseMounts(texts[7]!);
    expect(mounts.get("/proc")).toEqual(expect.arrayContaining(["rw", "nosuid", "nodev", "noexec"]));
    for (const name of ["sys", "irq", "bus", "fs", "sysrq-trigger", "acpi", "scsi"])
      if (existsSync(`/proc/${name}`))
        expect([name, ...mounts.get(`/proc/${name}`)!]).toEqual(expect.arrayContaining([name, "ro", "noexec"]));
    const secrets = `${project}/home`;
    expect(mounts.get(`${secrets}/.netrc`)).toEqual(expect.arrayContaining(["ro", "nosuid", "noexec"]));
    const hidden = mounts.get(`${secrets}/.gnupg`)!;
    expect(hidden).toEqual(expect.arrayContaining(["ro", "nosuid", "nodev", "noexec"]));
    expect(hidden.at(-1)).toMatch(/size=4k.*mode=555/);
    expect(texts[7]).not.toContain("SECRET");
    expect(mounts.get(`${project}/ws/.envrc`)).toEqual(expect.arrayContaining(["ro", "nosuid", "nodev"]));
    expect(mounts.get(`${project}/ws/.vscode`)).toEqual(expect.arrayContaining(["rw", "nosuid", "nodev"]));
    // Mounts of one command are not there for the next one.
    expect(count(texts[7]!, "/proc/sys")).toBe(1);
    if (existsSync("/proc/self/autogroup")) expect(texts[8]).not.toBe(more[0]);
  });
}

test("a file system that is mounted outside later does not appear inside, where it could be changed", async ({
  skip,
}) => {
  skip(!users.includes("root") || base.helper === undefined);
  const [project = ""] = await createProjects(base, "root", ["mounted"]);
  const commands = [
    "true",
    "!mount -t tmpfs x ../outside; touch ../outside/new",
    "cat ../outside/file; touch ../outside/x",
  ];
  const session = { ...inProject(project), helper: base.helper!, commands };
  const [results = []] = await runSessions({ base, user: "root", sharesMounts: true }, [session]);
  expect(results[2]!.text).toMatch(/^fine[^]*Read-only/);
});

/** A helper without any plan of mounts. */
async function open(): Promise<Helper> {
  const isRoot = users.includes("root");
  const parts = {
    mounts: [],
    machineWide: [],
    network: "none",
    isRoot,
    forHelper: true,
    mayTrace: true,
    memoryFilesBytes: 1024 * 1024,
    filterDescriptor: 4,
  } as const;
  const helper = await openHelper({
    bwrap: findProgram("bwrap", "/nowhere")!,
    helper: base.helper!,
    arguments: toBwrapArguments(parts),
    filter: createSystemCallFilter(process.arch, { isRoot }),
    capabilities: getCapabilityMask(isRoot),
    socketDirectories: [],
  });
  onTestFinished(() => helper.close());
  return helper;
}

const noLimits = { maxFiles: undefined, maxProcesses: undefined };

const start = async (
  helper: Helper,
  argv: SpawnRequest["argv"],
  { cwd = "/", limits = noLimits as ConfinedLimits } = {},
) => (await helper.start({ argv, cwd, env: { PATH: "/usr/bin:/bin" } }, limits))!;

test("a mount that is made later keeps the flags of what it shows", async ({ skip }) => {
  skip(users.length === 0 || base.helper === undefined);
  const helper = await open();
  for (const path of ["/usr", "/sys"]) expect(await helper.mount("writable", path)).toBe(0);
  const { stdout } = await start(helper, ["cat", "/proc/self/mountinfo"]);
  const mounts = parseMounts(await text(stdout));
  for (const path of ["/usr", "/sys"]) expect(mounts.get(path)).toEqual(expect.arrayContaining(["ro", "relatime"]));
});

test("a command that does not start says why, and one that is ended with all it started says so", async ({ skip }) => {
  skip(users.length === 0 || base.helper === undefined);
  const helper = await open();
  const getExit = async (...request: Parameters<typeof start>) => (await start(...request)).exit;
  expect(await getExit(helper, ["/nowhere/program"])).toMatchObject({ kind: "failed" });
  expect(await getExit(helper, ["true"], { cwd: "/nowhere" })).toMatchObject({ kind: "failed" });
  const child = await start(helper, ["sleep", "60"]);
  child.killAll();
  expect(await child.exit).toEqual({ kind: "signalled", signal: "SIGKILL" });
});

test("a socket that was handed over is closed in the helper, so that its end is the end of the connection", async ({
  skip,
}) => {
  skip(users.length === 0 || base.helper === undefined);
  const helper = await open();
  const countDescriptors = async () => {
    // Requests are answered one after the other, so that whatever came before is done.
    await helper.mount("read-only", "/usr");
    return readdirSync(`/proc/${helper.pid}/fd`).length;
  };
  const before = await countDescriptors();
  const server = await helper.sockets.listen(0);
  const connection = await helper.sockets.connect((server.address() as AddressInfo).port);
  expect(await countDescriptors()).toBe(before);
  connection.destroy();
  server.close();
});

test("a command has the limits and the environment that are asked for", async ({ skip }) => {
  skip(users.length === 0 || base.helper === undefined);
  const limits = { maxFiles: 77, maxProcesses: 88 };
  const helper = await open();
  const { stdout } = await start(helper, ["bash", "-c", "ulimit -Hn; ulimit -Hu"], { limits });
  expect(await text(stdout)).toBe("77\n88\n");
  expect(await text((await start(helper, ["env"])).stdout)).toBe("PATH=/usr/bin:/bin\n");
});

/** A helper of its own is sent this, and then nothing more. Answers with its code. */
async function send(message: Buffer): Promise<number | null> {
  const user = users.includes("root") ? "" : "--unshare-user ";
  const args = `${user}--die-with-parent --unshare-pid --cap-add ALL --ro-bind / / --dev /dev --proc /proc --`.split(
    " ",
  );
  const child = spawn(findProgram("bwrap", "/nowhere")!, [...args, base.helper!, "3", "0", "4", "1"], {
    // A signal to a group must not be one to ours.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const channel = child.stdio[3] as Duplex;
  channel.on("error", () => undefined).resume();
  channel.end(message);
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

const message = (...numbers: number[]) => {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number >>> 0, index * 4);
  return bytes;
};

test("a request that is not understood ends the helper, and with it the sandbox", async ({ skip }) => {
  skip(users.length === 0 || base.helper === undefined);
  const [start, signal, mount] = ["S", "K", "M"].map((letter) => letter.charCodeAt(0)) as [number, number, number];
  const wrong = {
    "too long": message(0xff000000, start),
    "too short": message(2, start),
    "of no type": message(4, 0),
    "without its fields": message(8, signal, 1),
    "without the end of a text": message(12, mount, "r".charCodeAt(0), 0x61616161),
    "for a slot that is not there": message(36, start, 99, 0, 0, 0, 0, 0, 0, 0),
  };
  const codes = await Promise.all(Object.entries(wrong).map(async ([what, bytes]) => [what, await send(bytes)]));
  expect(codes).toEqual(Object.keys(wrong).map((what) => [what, 70]));
  // A part of a request is none: its rest may be on the way.
  expect(await send(message(28, start, 99))).toBe(0);
  // Nor is there anybody to signal in a slot where nothing was started yet.
  expect(await send(message(16, signal, 1, 9, 1))).toBe(0);
});
