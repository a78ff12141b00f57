import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSpawn } from "@tau/tools";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSessionSandbox } from "../src/session-sandbox.ts";
import { defaultSandboxSettings } from "../src/settings.ts";
import { spawnInside } from "../src/spawn-inside.ts";
import {
  type Base,
  createBase,
  createProjects,
  inProject,
  outside,
  removeBase,
  runSessions,
  startRunner,
  takeTurns,
  type User,
  users,
} from "./kit.ts";
import type { RunnerInput, RunnerResult } from "./runner.ts";

let base: Base;
let count = 0;

beforeAll(async () => {
  base = await createBase();
});
afterAll(() => removeBase(base));

const ways = ["session", "command"] as const;

for (const user of users) {
  for (const way of ways) {
    describe(`a sandbox for each ${way}, as ${user === "root" ? "root" : "an ordinary user"}`, () => {
      const testInTurn = takeTurns(user, way === "session" ? 0 : 1);
      const getHelper = () => (way === "session" ? base.helper : false);
      const prepare = async (more: Partial<RunnerInput> = {}) => {
        const [project = ""] = await createProjects(base, user, [`test-${count++}`]);
        const session: RunnerInput = { ...inProject(project), helper: getHelper() ?? false, commands: [], ...more };
        return { project, session };
      };
      const run = async (commands: string[], more: Partial<RunnerInput> = {}) => {
        const { project, session } = await prepare(more);
        const [results = []] = await runSessions({ base, user }, [{ ...session, commands }]);
        return { project, results, texts: results.map(({ text }) => text) };
      };
      const isMissing = () => getHelper() === undefined;

      testInTurn("reports output, exit codes, signals and what outlived a command", async ({ skip }) => {
        skip(isMissing());
        const { texts } = await run([
          // Without a helper the output is a socket, which cannot be opened again.
          `echo out; echo err >&2; echo again${way === "session" ? " >/dev/stdout" : ""}; cat </dev/null; pwd`,
          "exit 3",
          "kill -TERM $$",
          "sleep 60 & echo left",
          "no-such-program",
          // An attach stops a process, and the first one would never go on.
          `perl -e 'syscall(${process.arch === "x64" ? 101 : 117}, 16, 1, 0, 0)'; echo ended`,
        ]);
        expect(texts[0]).toMatch(/out[^]*again[^]*\/ws/);
        expect(texts[0]).toContain("err");
        expect(texts[1]).toMatch(/exited with code 3/);
        expect(texts[2]).toMatch(/SIGTERM/);
        expect(texts[3]).toMatch(/left[^]*were still running when the command ended/);
        expect(texts[4]).toMatch(/not found[^]*code 127/);
        expect(texts[5]).toBe("ended");
      });

      testInTurn(
        "starts commands in a directory that is named by a link in the temporary directory",
        async ({ skip }) => {
          skip(isMissing());
          const { project, session } = await prepare();
          const link = join(project, "link");
          symlinkSync("ws", link);
          const [results = []] = await runSessions({ base, user }, [{ ...session, cwd: link, commands: ["pwd"] }]);
          expect(results.map(({ text }) => text)).toEqual([join(project, "ws")]);
        },
      );

      testInTurn(
        "lets ordinary work with git succeed, also in a directory that was no repository",
        async ({ skip }) => {
          skip(isMissing());
          const { project, texts, results } = await run([
            "echo b >b.txt; git add . && git commit -qm two && git switch -qc side && git log --oneline | wc -l",
            "git config user.name Somebody && git remote add origin https://example.com/a.git && git branch -m other",
            "mkdir n && cd n && git init -q && git config user.name a && git config user.email b@c && git commit -q --allow-empty -m x && git log --oneline | wc -l",
          ]);
          expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
          expect(texts[0]).toMatch(/^2/);
          expect(texts[2]).toMatch(/1/);
          expect(readFileSync(join(project, "ws/.git/config"), "utf8")).toMatch(/Somebody[^]*example\.com/);
        },
      );

      testInTurn("undoes what it must, keeps the rest, and says so", async ({ skip }) => {
        skip(isMissing());
        const { project, texts } = await run([
          "git config core.fsmonitor evil; git config user.name Kept; echo evil >.envrc",
          "true",
        ]);
        expect(texts[0]).toMatch(/protects \.envrc/);
        expect(texts[0]).toMatch(/undid changes of \.git\/config: core\.fsmonitor/);
        expect(texts[1]).not.toMatch(/sandbox/);
        const kept = /is now in (\S+)\. Ask/.exec(texts[0]!)![1]!;
        expect(readFileSync(kept, "utf8")).toBe("evil\n");
        expect(readFileSync(join(project, "ws/.git/config"), "utf8")).toMatch(/Kept/);
        expect(readFileSync(join(project, "ws/.git/config"), "utf8")).not.toMatch(/evil/);
      });

      testInTurn("protects a repository that a command has made", async ({ skip }) => {
        skip(isMissing());
        const { project, session } = await prepare();
        await outside(user, `rm -rf ${project}/ws/.git`);
        const commands = ["git init -q && git config user.name a", "echo evil >.git/hooks/pre-commit; mv .git x"];
        const [results = []] = await runSessions({ base, user }, [{ ...session, commands }]);
        expect(results[0]!.text).not.toMatch(/sandbox/);
        expect(existsSync(join(project, "ws/.git/hooks/pre-commit"))).toBe(false);
        expect(existsSync(join(project, "ws/.git/config"))).toBe(true);
      });

      testInTurn("runs commands when a socket that was hidden is gone", async ({ skip }) => {
        skip(isMissing());
        const directory = mkdtempSync(join(tmpdir(), "tau-socket-"));
        onTestFinished(() => rmSync(directory, { recursive: true }));
        chmodSync(directory, 0o777);
        const server = createServer().listen(join(directory, "socket"));
        onTestFinished(() => void server.close());
        await once(server, "listening");
        const { texts } = await run(["echo one", `!rm ${directory}/socket`, "echo two"]);
        expect([texts[0], texts[2]]).toEqual(["one", "two"]);
      });

      testInTurn(
        "starts again if a hidden path vanishes while bubblewrap makes its mounts, and only then",
        async ({ skip }) => {
          skip(isMissing());
          const { project, session } = await prepare();
          const [socket = "", armed, broken, log] = ["socket", "armed", "broken", "log"].map((name) =>
            join(project, name),
          );
          const env = await shadowBwrap(
            user,
            project,
            `case "$*" in *--args*) echo x >>${log}; if [ -e ${armed} ]; then rm ${armed} ${socket}; fi
           if [ -e ${broken} ]; then exec "$real" --ro-bind ${project}/missing /mnt -- true; fi;; esac`,
          );
          const server = createServer().listen(socket);
          onTestFinished(() => void server.close());
          await once(server, "listening");
          const counted = (starts: number) => `!test $(wc -l <${log}) = ${starts}`;
          const commands = {
            session: [`!touch ${armed}`, "echo one", "echo two"],
            command: [
              "true",
              `!touch ${armed}; : >${log}`,
              "echo one",
              `${counted(2)} && : >${log}`,
              'echo ran >>ran; echo "bwrap: Can\'t find source path /x" >&2; exit 1',
              `${counted(1)} && test $(wc -l <ran) = 1 && : >${log} && touch ${broken}`,
              "echo three",
              `${counted(3)} && rm ${broken}`,
              "echo four",
            ],
          }[way];
          const [results = []] = await runSessions({ base, user, env }, [{ ...session, commands }]);
          const texts = results.map(({ text }) => text);
          if (way === "session") {
            expect(texts.slice(1)).toEqual(["one", "two"]);
            return expect(results[2]!.state).toContain("helper");
          }
          expect(texts[2]).toBe("one");
          expect(texts[4]).toMatch(/Can't find source path \/x[^]*code 1/);
          expect(texts[6]).toMatch(/could not be started[^]*sandbox[^]*bwrap: Can't find source path \S+missing/);
          expect(texts[8]).toBe("four");
        },
      );

      testInTurn(
        "protects and hides files that a person has made or replaced since the session started",
        async ({ skip }) => {
          skip(isMissing());
          const { project, texts } = await run([
            "true",
            "!echo fine >.envrc; echo SECRET >../home/.netrc; mv .git/hooks h; cp -r h .git/hooks; rm -rf h",
            "echo evil >.envrc; echo evil >.git/hooks/pre-commit; cat ~/.netrc",
            "!echo better >n; mv n .envrc; echo SECRET >n; mv n ../home/.netrc",
            "echo evil >.envrc; cat ~/.netrc",
          ]);
          expect(readFileSync(join(project, "ws/.envrc"), "utf8")).toBe("better\n");
          expect(existsSync(join(project, "ws/.git/hooks/pre-commit"))).toBe(false);
          expect(texts[4]).not.toMatch(/SECRET|sandbox protects/);
        },
      );

      for (const away of ["mv ../ws ../old", "rm -rf ../ws"]) {
        testInTurn(
          `works in the directory that a person has put in place of the workspace (${away})`,
          async ({ skip }) => {
            skip(isMissing());
            const { project, results, texts } = await run([
              "echo one >made",
              `!${away}; git init -q ../ws`,
              "ls; echo two >made",
              "echo evil >.git/hooks/post-checkout; cat made",
            ]);
            expect(texts[2]).toBe("(no output)");
            expect(results[2]!.isError).toBe(false);
            expect(readFileSync(join(project, "ws/made"), "utf8")).toBe("two\n");
            expect(texts[3]).toMatch(/two/);
            expect(existsSync(join(project, "ws/.git/hooks/post-checkout"))).toBe(false);
          },
        );
      }

      testInTurn(
        "lets a job go on in a workspace that was replaced, and gives commands new directories of their own",
        async ({ skip }) => {
          skip(isMissing());
          const { project, session } = await prepare();
          const env = { TMPDIR: join(project, "temporary") };
          await outside(user, `mkdir ${env.TMPDIR}`);
          const commands = [
            "&until [ -e go ]; do sleep 0.05; done; echo went >gone",
            "echo one >/var/tmp/file; cat /var/tmp/file",
            `!rm -rf ${env.TMPDIR}/* ../agent/cache; mv ../ws ../old; git init -q ../ws`,
            "echo two >/var/tmp/file; cat /var/tmp/file; mkdir $npm_config_cache",
            "!cd ../old; touch go; for i in $(seq 200); do [ -e gone ] && break; sleep 0.05; done",
          ];
          const [results = []] = await runSessions({ base, user, env }, [{ ...session, commands }]);
          expect([1, 3].map((index) => results[index]!.text)).toEqual(["one", "two"]);
          expect(readFileSync(join(project, "old/gone"), "utf8")).toBe("went\n");
          expect(readdirSync(env.TMPDIR)).toEqual([]);
        },
      );

      testInTurn("shares loopback between commands, and with nobody else", async ({ skip }) => {
        skip(isMissing());
        const serve =
          "perl -MSocket -e 'socket(S, AF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(34567, INADDR_LOOPBACK)) or die; listen(S, 5); while (accept(C, S)) { syswrite C, \"hello\\n\"; close C }'";
        const ask =
          "for i in $(seq 50); do (exec 3<>/dev/tcp/127.0.0.1/34567 && head -1 <&3) 2>/dev/null && break; sleep 0.1; done";
        const { texts } = await run([`&${serve}`, ask]);
        expect(texts[1]).toMatch(/hello/);
        expect((await outside(user, "exec 3<>/dev/tcp/127.0.0.1/34567")).code).not.toBe(0);
      });

      testInTurn(
        "opens the directories that a person allows, and gives package managers caches of the project",
        async ({ skip }) => {
          skip(isMissing());
          const { project, session } = await prepare();
          const [results = []] = await runSessions({ base, user }, [
            {
              ...session,
              settings: { allowedPaths: [join(project, "outside")] },
              commands: [
                "(cd ../outside; git init -q r; mkdir .vscode)",
                "echo evil >../outside/.envrc; echo evil >../outside/.vscode/tasks.json",
                "echo new >../outside/new && mkdir -p $npm_config_cache $CARGO_HOME && echo $npm_config_cache",
                // npm complains about each variable for pnpm that begins as its own do.
                "env | grep store_dir",
                "env | grep store_dir; : pnpm",
                "!touch pnpm-lock.yaml",
                "env | grep store_dir",
              ],
            },
          ]);
          expect(results[2]).toMatchObject({ isError: false });
          expect(results[2]!.text).toContain(join(project, "agent", "cache"));
          const stores = [3, 4, 6].map((index) => results[index]!.text.match(/^p?npm(?=_config_store_dir)/gm)?.sort());
          expect(stores).toEqual([["pnpm"], ["npm", "pnpm"], ["npm", "pnpm"]]);
          expect(existsSync(join(project, "outside/.envrc"))).toBe(false);
          expect(existsSync(join(project, "outside/.vscode/tasks.json"))).toBe(false);
          expect(results[1]!.text).toContain(join(project, "outside/.envrc"));
          expect(existsSync(join(project, "outside/new"))).toBe(true);
        },
      );

      testInTurn("hands on no descriptor that our own process was started with", async ({ skip }) => {
        skip(isMissing());
        const { project, session } = await prepare();
        const commands = ["echo evil >/proc/self/fd/40/evil; ls /proc/self/fd/40/"];
        const inherits = join(project, "outside");
        const [results = []] = await runSessions({ base, user, inherits }, [{ ...session, commands }]);
        expect(results[0]).toMatchObject({ isError: true });
        expect(existsSync(join(inherits, "evil"))).toBe(false);
        const probe = `exec 40<${inherits}; ${process.execPath} -e 'child_process.execSync("echo >/proc/self/fd/40/evil")'`;
        expect(await outside(user, probe)).toMatchObject({ code: 0 });
        expect(existsSync(join(inherits, "evil"))).toBe(true);
      });

      testInTurn("lets a command clean up when it is aborted", async ({ skip }) => {
        skip(isMissing());
        const { project, session } = await prepare();
        // The shell itself waits for what it has started, which hears of the abort as well.
        const inner = `trap "echo done >cleaned; exit" TERM; touch ready; sleep 60 & wait`;
        const commands = [`trap : TERM; sh -c '${inner}'; exit`];
        const cleaned = join(project, "ws/cleaned");
        // It has 60 ms for that, in which a busy machine may not get to it.
        for (let tries = 0; tries < 5 && !existsSync(cleaned); tries++) {
          rmSync(join(project, "ws/ready"), { force: true });
          await runSessions({ base, user }, [{ ...session, commands, abortOn: "ready" }]);
        }
        expect(readFileSync(cleaned, "utf8")).toBe("done\n");
      });

      testInTurn("ends a command that takes more than its limits", async ({ skip }) => {
        skip(isMissing());
        const { texts } = await run(["for i in $(seq 200); do sleep 60 & done; wait"], { maxProcesses: 40 });
        expect(texts[0]).toMatch(/more than 40 processes at once/);
      });

      testInTurn("leaves the project as it was after a command and an abort", async ({ skip }) => {
        skip(isMissing());
        const { project, session } = await prepare();
        const before = await look(user, project);
        await runSessions({ base, user }, [
          { ...session, commands: ["true"] },
          { ...session, commands: ["trap '' TERM; sleep 60"], abortAfterMs: 400 },
        ]);
        expect(await look(user, project)).toBe(before);
      });

      testInTurn("leaves the project as it was and no process when the harness is killed", async ({ skip }) => {
        skip(isMissing());
        const { project, session } = await prepare();
        const before = await look(user, project);
        const seconds = `1234.${process.pid}${count}`;
        const child = startRunner({ base, user }, [
          { ...session, stays: true, commands: [`&setsid sleep ${seconds} & sleep ${seconds}`, "true"] },
        ]);
        const find = async () => (await outside(user, `pgrep -fx 'sleep ${seconds}'`)).text.trim();
        let output = "";
        child.stdout!.on("data", (piece: Buffer) => (output += piece.toString()));
        onTestFinished(() => void child.kill("SIGKILL"));
        await expect.poll(() => output.split("\n").length).toBe(3);
        // A shell may not have started them yet.
        await expect.poll(async () => (await find()).split("\n").length).toBe(2);
        child.kill("SIGKILL");
        await once(child, "exit");
        await expect.poll(find).toBe("");
        expect(await look(user, project)).toBe(before);
      });
    });
  }
}

test.each(users)(
  "as %s without the helper, a command starts again if the kernel refuses a namespace once",
  async (user) => {
    const [project = ""] = await createProjects(base, user, [`refused-${user}`]);
    const refused = join(project, "refused");
    const env = await shadowBwrap(
      user,
      project,
      `case "$*" in *--args*) if [ -e ${refused} ]; then rm ${refused}
     echo "bwrap: No permissions to create new namespace, likely because …" >&2; exit 1; fi;; esac`,
    );
    const commands = ["true", `!touch ${refused}`, "echo one"];
    const [results = []] = await runSessions({ base, user, env }, [{ ...inProject(project), helper: false, commands }]);
    expect(results[2]!.text).toBe("one");
  },
);

test("a session whose sandbox was killed gets a new one with its next command", async ({ skip }) => {
  skip(users.length === 0 || base.helper === undefined);
  const [user = "ordinary"] = users;
  const [project = ""] = await createProjects(base, user, ["killed"]);
  // A killed process is there for a moment on a busy machine, and takes a command that is ended with it.
  const kill = `!kill -9 $(pgrep -of '^[^ ]*bwrap .*${base.helper}'); while pgrep -f '^[^ ]*bwrap .*${base.helper}|^${base.helper} '; do sleep 0.01; done`;
  const commands = ["echo one", kill, "echo two"];
  const [results = []] = await runSessions({ base, user }, [{ ...inProject(project), helper: base.helper!, commands }]);
  expect(results.map(({ text }) => text)).toEqual(["one", expect.any(String), "two"]);
});

test("commands that run at the same time have outputs and ends of their own", async ({ skip }) => {
  skip(users.length === 0 || base.helper === undefined);
  const [user = "ordinary"] = users;
  const [project = ""] = await createProjects(base, user, ["together"]);
  const settings = { ...defaultSandboxSettings, mode: "required" as const };
  const sandbox = createSessionSandbox({ ...inProject(project), helper: base.helper!, settings });
  const env = { PATH: process.env["PATH"] ?? "" };
  const start = (script: string) =>
    spawnInside(sandbox, createSpawn(), { argv: ["sh", "-c", script], cwd: join(project, "ws"), env, stdin: "pipe" });
  const all = Array.from({ length: 12 }, async (_unused, index) => {
    const child = await start("read -r line; echo $line; sleep 0.0$(($$ % 5)); exit $line");
    child.stdin!.end(`${index}\n`);
    const [output, status] = await Promise.all([readAll(child.stdout), child.exit]);
    return { output, status };
  });
  const expected = Array.from({ length: 12 }, (_unused, index) => ({
    output: `${index}\n`,
    status: { kind: "exited", code: index },
  }));
  expect(await Promise.all(all)).toEqual(expected);
  const child = await start("exec sleep 60");
  child.signal("SIGINT", "group");
  expect(await child.exit).toEqual({ kind: "signalled", signal: "SIGINT" });
  await sandbox.close();
});

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const piece of stream) text += piece.toString();
  return text;
}

test("a sandbox that is required and cannot work refuses commands", async ({ skip }) => {
  skip(users.length === 0);
  const [user = "ordinary"] = users;
  const [project = ""] = await createProjects(base, user, ["required"]);
  const session: RunnerInput = { ...inProject(project), cwd: "/", helper: false, commands: ["echo ran"] };
  const [required, auto] = await runSessions({ base, user }, [session, { ...session, settings: { mode: "auto" } }]);
  expect(required![0]).toMatchObject({ isError: true });
  expect(required![0]!.text).toMatch(/root of the file system[^]*Start tau in a project's directory/);
  expect(auto![0]).toMatchObject({ isError: false, text: expect.stringContaining("ran") } as Partial<RunnerResult>);
});

/** A `bwrap` that runs a script first. Answers with the environment in which it is found. */
async function shadowBwrap(user: User, project: string, script: string): Promise<Record<string, string>> {
  const path = process.env["PATH"] ?? "/usr/bin:/bin";
  const { code, text } = await outside(
    user,
    `set -e; mkdir ${project}/bin; cat >${project}/bin/bwrap <<'END'
#!/bin/sh
real=$(PATH='${path}' command -v bwrap)
${script}
exec "$real" "$@"
END
chmod +x ${project}/bin/bwrap`,
  );
  if (code !== 0) throw new Error(text);
  return { PATH: `${project}/bin:${path}` };
}

const look = async (user: User, project: string): Promise<string> =>
  (await outside(user, `cd ${project}/ws && ls -A && git status --porcelain && find . -newer a.txt -name '.*' | sort`))
    .text;
