import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRegistries, getRustVariables } from "./registries.ts";
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
  users,
} from "./kit.ts";
import type { RunnerInput } from "./runner.ts";

let base: Base;
let server: Server;
let host: string;
let count = 0;

/** Not one of the addresses that are reached without a proxy. */
const address = "127.0.0.2";

beforeAll(async () => {
  base = await createBase();
  const files = join(base.directory, "files");
  mkdirSync(files);
  const made = await outside(
    users.includes("root") ? "root" : "ordinary",
    `set -e; cd ${files}; echo from outside >hello; git init -q --bare repo.git
     git init -q work; cd work; git -c user.name=a -c user.email=b@c commit -q --allow-empty -m 'over the proxy'
     git push -q ../repo.git HEAD:refs/heads/main; cd ../repo.git; git symbolic-ref HEAD refs/heads/main; git update-server-info`,
  );
  if (made.code !== 0) throw new Error(made.text);
  server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/\?.*/, "");
    if (path === "/tau-sample") {
      const dist = { tarball: `http://${host}/tau-sample.tgz`, shasum: "0".repeat(40) };
      const version = { name: "tau-sample", version: "7.8.9", dist };
      return response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ name: "tau-sample", "dist-tags": { latest: "7.8.9" }, versions: { "7.8.9": version } }));
    }
    const file = join(files, path.replace(/\/$/, "/index.html"));
    const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
    if (!isFile) return response.writeHead(404).end();
    if (file.endsWith(".html")) response.setHeader("content-type", "text/html");
    return response.end(readFileSync(file));
  });
  await once(server.listen(0, address), "listening");
  host = `${address}:${(server.address() as AddressInfo).port}`;
  createRegistries(files, host);
});
afterAll(async () => {
  server.close();
  await removeBase(base);
});

/** A port that is free now. */
async function findPort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Reads what a server sends to somebody who connects; undefined if nobody listens. */
async function askPort(port: number): Promise<string | undefined> {
  const socket = connect(port, "127.0.0.1");
  return await readText(socket).catch(() => undefined);
}

const serve = (port: number, family = "INET", loopback = "INADDR_LOOPBACK", pack = "sockaddr_in") =>
  `perl -MSocket=:all -e 'socket(S, AF_${family}, SOCK_STREAM, 0); bind(S, ${pack}(${port}, ${loopback})) or die $!; listen(S, 5); while (accept(C, S)) { syswrite C, "from inside"; close C }'`;

for (const user of users) {
  for (const way of ["session", "command"] as const) {
    describe(`the network of a sandbox for each ${way}, as ${user === "root" ? "root" : "an ordinary user"}`, () => {
      const testInTurn = takeTurns(user, way === "session" ? 0 : 1);
      const getHelper = () => (way === "session" ? base.helper : false);
      const prepare = async (more: Partial<RunnerInput>) => {
        const [project = ""] = await createProjects(base, user, [`${way}-network-${count++}`]);
        return { ...inProject(project), helper: getHelper() ?? false, commands: [], ...more } satisfies RunnerInput;
      };
      const run = async (commands: string[], more: Partial<RunnerInput> = {}) =>
        (await runSessions({ base, user }, [{ ...(await prepare(more)), commands }]))[0]!;
      const isMissing = () => getHelper() === undefined;

      testInTurn("curl, git and npm reach the hosts that are allowed, and no others", async ({ skip }) => {
        skip(isMissing());
        const settings = { network: { allow: [host] } };
        const [curl, direct, git, npm, other, pauses] = await run(
          [
            `curl -sS http://${host}/hello`,
            `curl -sS --noproxy '*' http://${host}/hello`,
            `git clone -q http://${host}/repo.git copy && git -C copy log --oneline`,
            `npm view tau-sample version --registry http://${host}/`,
            `curl -sS http://${address}:1/hello && curl -sSf http://${address}:1/hello`,
            "echo $npm_config_fetch_retry_mintimeout $PIP_RETRIES $CARGO_NET_RETRY",
          ],
          { settings, env: { CARGO_NET_RETRY: "7" } },
        );
        expect(curl).toMatchObject({ isError: false, text: expect.stringContaining("from outside") });
        expect(direct).toMatchObject({ isError: true });
        expect(git).toMatchObject({ isError: false, text: expect.stringContaining("over the proxy") });
        expect(npm).toMatchObject({ isError: false, text: expect.stringContaining("7.8.9") });
        expect(other!.refused).toMatchObject({ hosts: [`${address}:1`], paths: [], mayLeave: false });
        // Nobody waits long for what is refused, unless the person wants it so.
        expect(pauses!.text).toBe("1000 2 7");
      });

      // Not in turns: only root may have them.
      test("pip and cargo reach a registry that is allowed, and a person is asked about one that is not", async ({
        skip,
      }) => {
        const env = getRustVariables();
        const { code } = await outside(user, "python3 -m pip --version && cargo --version", env);
        // Slow programs, whose way to the proxy is the same for all.
        skip(isMissing() || code !== 0 || way === "command");
        const index = `--index-url http://${host}/simple/ --trusted-host ${address}`;
        const commands = [
          // A wrapper such as pyenv may fail after the installation, when it wants to change its own directory.
          `python3 -m pip install -q --isolated --disable-pip-version-check --no-compile ${index} --target lib tau-sample; cat lib/tau_sample.py`,
          `mkdir -p .cargo src && echo 'fn main(){}' >src/main.rs
           printf '[package]\\nname="a"\\nversion="0.1.0"\\n[dependencies]\\ntau-sample="7"\\n' >Cargo.toml
           printf '[source.crates-io]\\nreplace-with="here"\\n[source.here]\\nregistry="sparse+http://${host}/index/"\\n' >.cargo/config.toml
           cargo fetch && cat $CARGO_HOME/registry/src/*/tau-sample-7.8.9/src/lib.rs`,
        ];
        const allowed = await run(commands, { env, settings: { network: { allow: [host] } } });
        expect(allowed.map(({ text }) => text)).toEqual([
          expect.stringContaining("from a wheel"),
          expect.stringContaining("from a crate"),
        ]);
        const refused = await run(commands, { env });
        expect(refused.map((result) => result.refused?.hosts)).toEqual([[host], [host]]);
      });

      testInTurn("what a failed command was refused is told, with the setting that allows it", async ({ skip }) => {
        skip(isMissing());
        const [secure, plain, fine, later] = await run([
          "curl -sS https://registry.example/x",
          "curl -sS http://registry.example:8080/x; curl -sS http://second.example/; exit 3",
          "curl -s http://registry.example/x >/dev/null",
          "false",
        ]);
        expect(secure!.text).toContain(
          '[The sandbox refused network access to registry.example:443. Only the user can allow it, with the setting sandbox.network: {"allow":["registry.example"]}.]',
        );
        expect(plain!.refused).toMatchObject({ hosts: ["registry.example:8080", "second.example"], paths: [] });
        // A command that succeeds has got what it wanted.
        expect(fine).toMatchObject({ isError: false, text: expect.not.stringContaining("sandbox") });
        expect(later!.text).not.toMatch(/sandbox/);
      });

      testInTurn("a path that the sandbox holds is told, and others are not", async ({ skip }) => {
        skip(isMissing());
        const [written, asked, system, inside, hidden, ordinary] = await run([
          "echo x >../outside/file",
          // As pyenv does when pip has installed something.
          'dir=$(realpath ../outside); test -w "$dir" || { echo "tool: cannot update: $dir isn\'t writable"; exit 1; }',
          `echo "touch: cannot touch '/etc/x': Read-only file system"; false`,
          "mkdir -p .git/hooks; echo x >.git/hooks/pre-commit",
          "echo x >../agent/settings.json",
          "cat missing; cat /root/missing/file; false",
        ]);
        expect(written!.refused?.paths, written!.text).toEqual([expect.stringMatching(/outside\/file$/)]);
        expect(written!.text).toMatch(/sandbox keeps \S+outside\/file read-only.*sandbox\.allowedPaths: \["\//);
        expect(asked!.refused!.paths).toEqual([expect.stringMatching(/outside$/)]);
        expect(asked!.text).toMatch(/sandbox keeps \S+outside read-only/);
        // What the user cannot change either is not offered.
        expect(system!.text).toContain("The sandbox keeps /etc/x read-only.");
        expect(system!.refused?.paths).toEqual(user === "root" ? ["/etc"] : undefined);
        expect(inside!.refused).toMatchObject({
          hosts: [],
          paths: [],
          reason: expect.stringMatching(/keeps \S+hooks\S* read-only, because/),
        });
        // Nobody is asked to open credentials.
        expect(hidden!.refused).toBeUndefined();
        expect(hidden!.text).toMatch(/hides \S+settings\.json/);
        expect(ordinary!.text).not.toMatch(/sandbox/);
        expect(ordinary!.refused).toBeUndefined();
      });

      testInTurn("servers inside can be reached on the ports that are listed, and on no others", async ({ skip }) => {
        skip(isMissing());
        const [open, other, newer] = [await findPort(), await findPort(), await findPort()];
        const input = await prepare({
          settings: { ports: [open, newer] },
          stays: true,
          commands: [
            `&${serve(open)}`,
            `&${serve(other)}`,
            `&${serve(newer, "INET6", "IN6ADDR_LOOPBACK", "sockaddr_in6")}`,
            "true",
          ],
        });
        const child = startRunner({ base, user }, [input]);
        await expect.poll(() => askPort(open)).toBe("from inside");
        await expect.poll(() => askPort(newer)).toBe("from inside");
        expect(await askPort(other)).toBeUndefined();
        // Where there is no helper, a process of ours connects inside.
        const findConnecting = async () => (await outside(user, "pgrep -f 'node:net.*listen = [(]id, port[)]'")).text;
        if (way === "command") expect(await findConnecting()).not.toBe("");
        child.kill("SIGKILL");
        await once(child, "exit");
        await expect.poll(() => askPort(open)).toBeUndefined();
        await expect.poll(() => askPort(newer)).toBeUndefined();
        await expect.poll(findConnecting).toBe("");
      });

      testInTurn(
        "a person is asked once about a port that is not listed, when a program outside connects",
        async ({ skip }) => {
          skip(isMissing());
          const [wanted, unwanted] = [await findPort(), await findPort()];
          const start = async (ports: RunnerInput["ports"], port: number) => {
            const input = await prepare({
              ...(ports && { ports }),
              stays: true,
              commands: [`&${serve(port)}`, `&${serve(80)}`, "true"],
            });
            const child = startRunner({ base, user }, [input]);
            const asked: number[] = [];
            let results = 0;
            for await (const line of createInterface(child.stdout!)) {
              if (line.includes("asked")) asked.push((JSON.parse(line) as { asked: number }).asked);
              else if (++results === 3) break;
            }
            createInterface(child.stdout!).on("line", (line) =>
              asked.push((JSON.parse(line) as { asked: number }).asked),
            );
            const end = async () => {
              child.kill("SIGKILL");
              await once(child, "exit");
            };
            return { asked, end };
          };
          const yes = await start({ standing: "ask", answer: true }, wanted);
          await expect.poll(() => askPort(wanted)).toBe("from inside");
          expect(await askPort(wanted)).toBe("from inside");
          // Neither the proxy nor a port of the system is offered.
          expect(yes.asked).toEqual([wanted]);
          await yes.end();
          await expect.poll(() => askPort(wanted)).toBeUndefined();
          const no = await start({ standing: "ask", answer: false }, unwanted);
          await expect.poll(async () => [await askPort(unwanted), no.asked].flat()).toContain(unwanted);
          // Nobody listens there any more.
          await expect.poll(() => askPort(unwanted)).toBeUndefined();
          expect(no.asked).toEqual([unwanted]);
          await no.end();
          const before = await start({ standing: "open", answer: false }, wanted);
          await expect.poll(() => askPort(wanted)).toBe("from inside");
          expect(before.asked).toEqual([]);
          await before.end();
          const closed = await start({ standing: "closed", answer: true }, wanted);
          expect(await askPort(wanted)).toBeUndefined();
          expect(closed.asked).toEqual([]);
          await closed.end();
        },
      );

      testInTurn("protected names of a directory that a person allows stay as they are", async ({ skip }) => {
        skip(isMissing() || way === "command");
        const input = await prepare({});
        const path = join(input.cwd, "../outside");
        await outside(user, `cd ${path} && git init -q && rm -rf .git/hooks/* && mkdir sub`);
        const attack =
          "cd ../outside; echo x >.git/hooks/pre-commit; echo x >.envrc; git config core.pager x; echo x >fine; ls -A . .git/hooks";
        const grant = { hosts: [], term: "command" } as const;
        const [results = []] = await runSessions({ base, user }, [
          {
            ...input,
            commands: [
              attack,
              "echo x >../outside/.git/later",
              "echo x >../outside/sub/a; echo x >../outside/.git/later",
            ],
            grants: { 0: { ...grant, paths: [path] }, 2: { ...grant, paths: [join(path, "sub")] } },
          },
        ]);
        expect(results[0]!.text).toMatch(/protects \S+\.envrc.*undid changes of \S+config: core\.pager/s);
        expect(results.slice(1).map(({ isError }) => isError)).toEqual([true, true]);
        const { text } = await outside(user, `cd ${path} && ls -A . .git/hooks sub; cat .git/config .git/later`);
        expect(text).toMatch(/^fine$/m);
        expect(text).toMatch(/^sub:\na$/m);
        expect(text).not.toMatch(/envrc|pre-commit|pager|^x$/m);
      });

      testInTurn("what a person allows counts for one command, or from then on", async ({ skip }) => {
        skip(isMissing());
        const input = await prepare({});
        const path = join(input.cwd, "../outside");
        const fetch = `curl -sSf http://${host}/hello`;
        const none = { hosts: [], paths: [] };
        const [results = []] = await runSessions({ base, user }, [
          {
            ...input,
            commands: [
              fetch,
              fetch,
              fetch,
              fetch,
              "echo here >/var/tmp/kept",
              "echo a >../outside/a && cat /var/tmp/kept",
              "echo b >../outside/b",
              "echo c >../outside/c && cat /var/tmp/kept",
              `echo d >../outside/d && ${fetch}`,
            ],
            grants: {
              1: { ...none, hosts: [host], term: "command" },
              3: { ...none, hosts: [host], term: "session" },
              5: { ...none, paths: [path], term: "command" },
              7: { ...none, paths: [path], term: "session" },
            },
          },
        ]);
        expect(results.map(({ isError }) => isError)).toEqual([
          true,
          false,
          true,
          false,
          false,
          false,
          true,
          false,
          false,
        ]);
        expect(results.slice(5).map(({ text }) => text)).toEqual([
          expect.stringContaining("here"),
          expect.stringMatching(/Read-only file system/),
          expect.stringContaining("here"),
          expect.stringContaining("from outside"),
        ]);
        expect(readdirSync(path).toSorted()).toEqual(["a", "c", "d", "file"]);
      });

      testInTurn(
        "a server of this machine on loopback is told of, and reached only when its port is allowed",
        async ({ skip }) => {
          skip(isMissing());
          const machine = createServer((_request, response) => response.end("from the machine"));
          await once(machine.listen(0, "127.0.0.1"), "listening");
          const { port } = machine.address() as AddressInfo;
          const nobody = await findPort();
          const ask = `curl -sSf http://127.0.0.1:${port}/`;
          const grant = { hosts: [`localhost:${port}`], paths: [] };
          const results = await run([ask, `curl -sSf http://localhost:${nobody}/`, ask, ask, ask, ask], {
            grants: { 2: { ...grant, term: "command" }, 4: { ...grant, term: "session" } },
          });
          const settings = { network: { allow: [`localhost:${port}`, `localhost:${nobody}`] }, ports: [nobody] };
          const [listed] = await run([ask], { settings }).finally(() => machine.close());
          expect(results.map(({ isError }) => isError)).toEqual([true, true, false, true, false, false]);
          expect(results[0]!.refused).toMatchObject({ hosts: [`localhost:${port}`], paths: [] });
          expect(results[0]!.text).toContain(`sandbox.network: {"allow":["localhost:${port}"]}`);
          // Nobody listens there outside either, so it is not the sandbox that is in the way.
          expect(results[1]!.refused).toBeUndefined();
          expect(results[2]!.text).toContain("from the machine");
          expect(listed).toMatchObject({ isError: false, text: expect.stringContaining("from the machine") });
          // It would lead to itself.
          expect(listed!.text).toMatch(new RegExp(`Port ${nobody} of this machine cannot be reached from inside`));
        },
      );

      testInTurn("a sandbox that was killed is started again with its proxy and its ports", async ({ skip }) => {
        skip(isMissing() || way === "command");
        const port = await findPort();
        const input = await prepare({
          settings: { ports: [port], network: { allow: [host] } },
          stays: true,
          commands: [
            "true",
            `!code=1; for pid in $(pgrep -f "^${base.helper} "); do grep -qs " $PWD " /proc/$pid/mountinfo && kill -9 $pid && code=0 && while grep -qs '^State:.[^Z]' /proc/$pid/status; do sleep 0.01; done; done; exit $code`,
            `curl -sSf http://${host}/hello`,
            `&${serve(port)}`,
          ],
        });
        const child = startRunner({ base, user }, [input]);
        let output = "";
        child.stdout!.on("data", (piece: Buffer) => (output += piece.toString()));
        await expect.poll(() => output).toContain("from outside");
        await expect.poll(() => askPort(port)).toBe("from inside");
        child.kill("SIGKILL");
        await once(child, "exit");
      });

      testInTurn("a port that is taken is told, and commands run nevertheless", async ({ skip }) => {
        skip(isMissing());
        const taken = createServer().listen(0, "127.0.0.1");
        await once(taken, "listening");
        const { port } = taken.address() as AddressInfo;
        const [first, second] = await run(["echo ran", "echo again"], { settings: { ports: [port] } });
        taken.close();
        expect(first!.text).toMatch(new RegExp(`ran[^]*Port ${port} of the setting sandbox.ports could not be opened`));
        expect(second!.text).not.toMatch(/Port/);
      });
    });
  }
}
