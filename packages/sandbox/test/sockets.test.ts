/** Sockets in the file system: those of programs outside cannot be reached, however they are named, and those inside work. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  type Base,
  createBase,
  createProjects,
  inProject,
  outside,
  removeBase,
  runSessions,
  type User,
  users,
} from "./kit.ts";

let base: Base;
let connect: string;

beforeAll(async () => {
  base = await createBase();
  connect = join(base.directory, "connect");
  if (base.helper !== undefined) {
    const source = join(import.meta.dirname, "connect.c");
    execFileSync("cc", ["-std=c11", "-O2", "-pthread", "-w", "-o", connect, source]);
  }
});
afterAll(() => removeBase(base));

/** `$O` is a socket outside at which a server says OUTSIDE, `$I` one in the workspace. Each prints OUTSIDE without a sandbox. */
const attempts: readonly (readonly [string, string])[] = [
  ["by its path", "$C plain $O"],
  ["without waiting", "$C nonblocking $O"],
  ["by a relative path", "$C in x.sock $P/outside"],
  ["by a relative path from the workspace", "$C plain ../outside/x.sock"],
  ["by a path with detours", "$C plain $P/ws/.././//outside/../outside/x.sock"],
  ["by a path that does not end", "$C unterminated $O"],
  ["through a link to it", "ln -sf $O l; $C plain l"],
  ["through a link to its directory", "ln -sfn $P/outside d; $C plain d/x.sock"],
  ["through a chain of relative links", "mkdir -p s; ln -sfn ../../outside s/d; ln -sfn s/d e; $C plain e/./x.sock"],
  ["through /proc/self/root", "$C plain /proc/self/root$O"],
  ["through /proc/self/cwd", "$C in /proc/self/cwd/x.sock $P/outside"],
  ["through /proc/thread-self", "$C in /proc/thread-self/cwd/x.sock $P/outside"],
  ["through the root of another process", "sleep 9 & $C plain /proc/$!/root$O; kill $!"],
  [
    "through the directory of another process",
    "cd ../outside; sleep 9 & cd ../ws; $C plain /proc/$!/cwd/x.sock; kill $!",
  ],
  ["through an open directory", "$C beside x.sock $P/outside"],
  ["through itself, open", "$C descriptor $O"],
  ["through a link in /dev", "exec 7<../outside; ln -sfn /dev/fd/7 f; $C plain f/x.sock"],
  ["from a thread with descriptors of its own", "$C thread $O"],
  ["from a process that cannot be traced", "$C untraceable $O"],
  ["as packets", "$C packets $P/outside/packets.sock"],
  ["by a hard link of it", "$C plain $P/outside/hard.sock"],
  ["by the name that it was given later", "$C plain $P/outside/renamed.sock"],
  ["in a directory that commands may change", "$C plain $P/granted/y.sock"],
  ["while the address changes", "$C race-address $I $O"],
  ["while a link on the way changes", "$C race-link $I $O"],
  ["while the descriptor changes", "$C race-descriptor $I $O"],
  ["by the queue of the kernel", "$C io_uring $O"],
  ...(process.arch === "x64" ? [["by a call of 32-bit programs", "$C interrupt $O"] as const] : []),
];

const datagrams = ["sendto", "sendmsg", "sendmmsg", "send", "raw", "pair"];

/** Servers outside, as another program of the same user would start them. */
const startServers = `cd $P/outside; mkdir -p $P/granted
  for s in "serve x.sock" "serve-packets packets.sock" "serve early.sock"; do $C $s OUTSIDE & echo $! >>$P/pids; done
  (cd $P/granted; exec $C serve y.sock OUTSIDE) & echo $! >>$P/pids
  for d in ${datagrams.join(" ")}; do $C receive $d.sock $P/outside/got-$d & echo $! >>$P/pids; done
  for s in x packets early ../granted/y ${datagrams.join(" ")}; do until test -S $s.sock; do sleep 0.02; done; done
  ln x.sock hard.sock; mv early.sock renamed.sock`;

const detached = (script: string) => `(${script}) </dev/null >/dev/null 2>&1`;

async function prepare(user: User, name: string) {
  const [project = ""] = await createProjects(base, user, [name]);
  const env = { ROUNDS: "1000", P: project, C: connect, O: `${project}/outside/x.sock`, I: `${project}/ws/i.sock` };
  return { project, env };
}

/** Also ends them if the test fails. */
async function startOutside(user: User, env: Record<string, string>): Promise<void> {
  onTestFinished(async () => void (await outside(user, "kill $(cat $P/pids)", env)));
  await outside(user, detached(startServers), env);
}

for (const user of users) {
  test(`sockets outside can be reached without the sandbox in every way that is tried, as ${user}`, async ({
    skip,
  }) => {
    skip(base.helper === undefined);
    const prepared = await prepare(user, "bare");
    // However busy the machine is, one of so many succeeds.
    const env = { ...prepared.env, ROUNDS: "100000000" };
    await startOutside(user, env);
    const inner = "$C serve $I INSIDE & server=$!; until test -S $I; do sleep 0.02; done;";
    const failed: string[] = [];
    for (const [name, attack] of attempts) {
      const { text } = await outside(user, `cd $P/ws; ${inner} ${attack}; kill $server`, env);
      if (!text.includes("OUTSIDE")) failed.push(`${name}: ${text}`);
    }
    expect(failed).toEqual([]);
    for (const way of datagrams) await outside(user, `$C datagram $P/outside/${way}.sock ${way}`, env);
    for (const way of datagrams) await expect.poll(() => existsSync(`${env.P}/outside/got-${way}`)).toBe(true);
  });

  test(`sockets that programs outside make later cannot be reached, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined);
    const { project, env } = await prepare(user, "guarded");
    // The first command waits until the servers are there: it began before them.
    const begin = "touch begun; until test -S $P/outside/renamed.sock; do sleep 0.05; done; $C plain $O";
    const serve = "&$C serve $I INSIDE";
    const commands = [
      begin,
      serve,
      "until test -S $I; do sleep 0.02; done; $C plain $I",
      ...attempts.map(([, attack]) => `${attack} 2>&1`),
      ...datagrams.map((way) => `$C datagram $P/outside/${way}.sock ${way} 2>&1`),
    ];
    const session = {
      ...inProject(project),
      helper: base.helper!,
      env,
      settings: { allowedPaths: [join(project, "granted")] },
      commands,
    };
    const running = runSessions({ base, user }, [session]);
    await expect.poll(() => existsSync(`${project}/ws/begun`)).toBe(true);
    await startOutside(user, env);
    const [results = []] = await running;
    const texts = results.map(({ text }) => text);
    expect(results[0]!.state).toContain('"guardsSockets":true');
    expect(texts[0]).toMatch(/^error EACCES/);
    expect(texts[2]).toMatch(/^INSIDE/);
    const reached = [["a command that began before it", ""], ...attempts].filter((_unused, index) =>
      texts[index === 0 ? 0 : index + 2]!.includes("OUTSIDE"),
    );
    expect(reached).toEqual([]);
    for (const way of datagrams) expect([way, existsSync(`${project}/outside/got-${way}`)]).toEqual([way, false]);
  });

  test(`sockets inside can be used, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined);
    const { project, env } = await prepare(user, "inner");
    const long = "d".repeat(100);
    const commands = [
      // The directories of the sandbox.
      "for d in . /var/tmp /run /dev/shm $XDG_CACHE_HOME; do mkdir -p $d; $C serve $d/s.sock INSIDE & for i in $(seq 500); do test -S $d/s.sock && break; sleep 0.02; done; $C plain $d/s.sock; done; kill $(jobs -p)",
      "&$C serve $I INSIDE",
      "&$C serve-packets p.sock PACKETS",
      `until test -S $I && test -S p.sock; do sleep 0.02; done; mkdir ${long}; ln $I ${long}/i.sock
       $C plain $I; $C nonblocking i.sock; $C unterminated $I; $C thread $I; $C untraceable $I; $C packets p.sock
       $C plain /proc/self/cwd/i.sock; $C plain /proc/self/root$I; $C beside i.sock $PWD/${long}; $C descriptor $I
       ln -s $I l; $C plain l; cd /var/tmp; ln -s $P/ws w; $C plain w/i.sock; rm -r w`,
      // The errors of the system.
      "cd $P/ws; $C plain missing; $C plain a.txt; $C plain i.sock/; $C plain i.sock/x; $C plain $P; $C twice i.sock; ln -s loop loop; $C plain loop; $C packets i.sock",
      "$C too-long x; $C longer i.sock; $C bad-address x; $C bad-descriptor x; $C no-socket x; $C other-family x; $C nothing x; $C plain ''",
      // Pairs, and what Node and shells use between processes.
      `node -e '
        const { fork } = require("node:child_process");
        if (process.send) process.send("from the child");
        else fork(process.argv[1] ?? __filename, { execArgv: [] });' 2>/dev/null; perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) and socketpair(A, B, AF_UNIX, SOCK_SEQPACKET, 0) and print "pairs\\n"'`,
      "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => q(127.0.0.1)); $c = IO::Socket::INET->new(PeerAddr => q(127.0.0.1), PeerPort => $s->sockport) and print qq(loopback\\n)'",
    ];
    const [results = []] = await runSessions({ base, user }, [
      { ...inProject(project), helper: base.helper!, env, commands },
    ]);
    const lines = (index: number) => results[index]!.text.split("\n").filter((line) => !line.startsWith("["));

    for (const line of lines(0)) expect(line).toMatch(/^INSIDE \d+ \d+$/);
    expect(lines(0)).toHaveLength(5);
    const inner = expect.stringMatching(/^INSIDE/) as string;
    const packets = expect.stringMatching(/^PACKETS/) as string;
    expect(lines(3)).toEqual([inner, inner, inner, inner, inner, packets, ...Array.from({ length: 6 }, () => inner)]);
    const { text } = await outside(
      user,
      `cd $P/ws; rm -f i.sock; $C serve $I INSIDE & until test -S $I; do sleep 0.02; done; rm -f loop; ${commands[4]}; ${commands[5]}; kill $!`,
      env,
    );
    const errors = text.split("\n").filter((line) => line.startsWith("error"));
    expect(errors).toHaveLength(16);
    expect([...lines(4), ...lines(5)].filter((line) => line.startsWith("error"))).toEqual(errors);
    expect(lines(6)).toContain("pairs");
    expect(lines(7)).toEqual(["loopback"]);
  });

  test(`connections that wait for a server hold up nobody, and end with their command, as ${user}`, async ({
    skip,
  }) => {
    skip(base.helper === undefined);
    const { project, env } = await prepare(user, "waiting");
    const silent = `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("full.sock")); listen(S, 0); sleep 300'`;
    const commands = [
      `&${silent}`,
      "&$C serve $I INSIDE",
      // The first one fills the queue.
      "until test -S full.sock && test -S $I; do sleep 0.02; done; for i in $(seq 300); do $C plain full.sock & done; sleep 0.3; $C nonblocking full.sock; kill $(jobs -p); wait",
      "$C plain $I",
    ];
    const [results = []] = await runSessions({ base, user }, [
      { ...inProject(project), helper: base.helper!, env, commands },
    ]);
    expect(results[2]!.text).toContain("EAGAIN");
    expect(results[3]!.text).toMatch(/^INSIDE/);
  });
}

test("a server inside sees the user of whoever connects", async ({ skip }) => {
  skip(base.helper === undefined || !users.includes("root"));
  const { project, env } = await prepare("root", "users");
  const other = "setpriv --reuid 1234 --regid 1235 --clear-groups --";
  const commands = [
    "&$C serve $I INSIDE",
    `until test -S $I; do sleep 0.02; done; mkdir private; chmod 700 private; ln $I private/i.sock; ${other} $C plain $I; ${other} $C plain private/i.sock; $C plain private/i.sock`,
  ];
  const [results = []] = await runSessions({ base, user: "root" }, [
    { ...inProject(project), helper: base.helper!, env, commands },
  ]);
  expect(results[1]!.text.split("\n").slice(0, 3)).toEqual(["INSIDE 1234 1235", "error EACCES", "INSIDE 0 0"]);
});
