/** Logins with the program, against an authorization server on this machine, with a person at a browser. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import {
  type AuthorizationServer,
  canary,
  startAuthorizationServer,
} from "../../../harness/test/auth/authorization-server.ts";
import { visit } from "../../../harness/test/auth/kit.ts";
import { exitCodes } from "../../src/exit-codes.ts";
import { createWorkspace, run, type RunOptions, type RunResult, type Workspace } from "../kit.ts";

interface Login {
  method?: "browser" | "paste";
  /** Somebody sits at the terminal. Their input stays open. */
  isPerson?: boolean;
  signal?: AbortSignal;
  provider?: Parameters<AuthorizationServer["provider"]>[0];
  /** What the person does, once, when the address is shown. Gets the address that the browser would come back to. */
  act: (back: URL, typed: PassThrough) => unknown;
}

async function logIn(login: Login): Promise<RunResult & { workspace: Workspace; server: AuthorizationServer }> {
  const { method = "browser", isPerson = false, provider, act } = login;
  const workspace = await createWorkspace();
  const server = await startAuthorizationServer();
  const typed = new PassThrough();
  let isShown = false;
  const options: RunOptions = {
    input: typed,
    terminal: { input: isPerson, err: isPerson },
    oauthProviders: [server.provider(provider)],
    ...(login.signal && { signal: login.signal }),
    onErr(err) {
      const url = /^ {2}(http\S+)$/m.exec(err)?.[1];
      // A person is asked for what to paste right after the address.
      if (isShown || url === undefined || (isPerson && !err.endsWith(": "))) return;
      isShown = true;
      void act(new URL(server.approve(url)), typed);
    },
  };
  const ran = await run(workspace, ["auth", "login", "here", "--method", method], options);
  expect(isShown || ran.code !== exitCodes.done).toBe(true);
  // No token, whatever happened. A code is shown only as it is pasted.
  expect(ran.out + ran.err).not.toMatch(new RegExp(`${isPerson ? "(?:access|refresh)-" : ""}${canary}`));
  return { ...ran, workspace, server };
}

const storedIn = async ({ agentDir }: Workspace) =>
  JSON.parse(await readFile(join(agentDir, "auth.json"), "utf8")) as Record<string, { access: string }>;

const nothingStored = ({ agentDir }: Workspace) =>
  expect(stat(join(agentDir, "auth.json"))).rejects.toMatchObject({ code: "ENOENT" });

test("the browser comes back, and the login is stored for its owner alone", async () => {
  const { code, out, err, workspace, server } = await logIn({ act: (back) => visit(back.href) });
  expect({ code, out }).toEqual({
    code: exitCodes.done,
    out: "Logged in to here. tau models here lists its models.\n",
  });
  expect(err).toMatch(/^Open this in a browser:\n {2}http:\S+\n$/);
  expect((await storedIn(workspace))["here"]?.access).toContain(canary);
  expect((await stat(join(workspace.agentDir, "auth.json"))).mode & 0o777).toBe(0o600);
  expect(server.grants).toEqual(["authorization_code"]);
  const status = await run(workspace, ["auth", "status"]);
  expect(status.out).toMatch(/^here +auth\.json, login, renewed after /m);
  expect(status.out).not.toContain(canary);
});

test.each(["browser", "paste"] as const)("with the method %s, what is pasted will do", async (method) => {
  const act: Login["act"] = (back, typed) => typed.write(`${back.href}\n`);
  const { code, err, workspace } = await logIn({ method, isPerson: true, act });
  expect(code).toBe(exitCodes.done);
  expect(err).toContain("paste the final address, or the code in it");
  expect((await storedIn(workspace))["here"]?.access).toContain(canary);
});

test("a question that nobody needs to answer any more ends its line", async () => {
  const { code, err } = await logIn({ isPerson: true, act: (back) => visit(back.href) });
  expect(code).toBe(exitCodes.done);
  expect(err).toMatch(/or the code in it: \n$/);
});

test("who says no in the browser is told so in one line, and nothing is stored", async () => {
  const { code, out, err, workspace, server } = await logIn({
    act(back) {
      back.searchParams.delete("code");
      back.searchParams.set("error", "access_denied");
      return visit(back.href);
    },
  });
  expect({ code, out }).toEqual({ code: exitCodes.failed, out: "" });
  expect(err).toMatch(/\ntau auth: The login to Here was refused in the browser\.\n$/);
  expect(server.grants).toEqual([]);
  await nothingStored(workspace);
});

test("a browser with another state is turned away, and the right one still counts", async () => {
  const seen: number[] = [];
  const { code } = await logIn({
    async act(back) {
      const wrong = new URL(back);
      wrong.searchParams.set("state", "guessed");
      for (const url of [wrong, back]) seen.push((await visit(url.href)).status);
    },
  });
  expect(code).toBe(exitCodes.done);
  expect(seen).toEqual([400, 200]);
});

test("what was pasted from another login is refused, and nothing is stored", async () => {
  const { code, err, workspace, server } = await logIn({
    isPerson: true,
    act(back, typed) {
      back.searchParams.set("state", "guessed");
      typed.write(`${back.href}\n`);
    },
  });
  expect(code).toBe(exitCodes.failed);
  expect(err).toMatch(/tau auth: The pasted text belongs to another login\..*\n$/);
  expect(server.grants).toEqual([]);
  await nothingStored(workspace);
});

test("a code that the server does not take is one line, and nothing is stored", async () => {
  const { code, err, workspace } = await logIn({
    act(back) {
      back.searchParams.set("code", "no-code-of-ours");
      return visit(back.href);
    },
  });
  expect(code).toBe(exitCodes.failed);
  expect(err).toMatch(/\ntau auth: Here did not accept the code: .*\n$/);
  await nothingStored(workspace);
});

test("a port that is taken is named where nobody can paste, and is no hindrance where somebody can", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const browser = { authorizeUrl: "http://127.0.0.1:9/authorize", redirect: { port, isFixed: true, path: "/back" } };
  const alone = await logIn({ provider: { browser }, act: () => undefined });
  expect(alone.code).toBe(exitCodes.failed);
  expect(alone.err).toBe(
    `tau auth: Port ${port} on this machine could not be opened for Here. Close the program that uses it, and try again.\n`,
  );
  await nothingStored(alone.workspace);
  const act: Login["act"] = (back, typed) => typed.write(`${back.href}\n`);
  expect(await logIn({ provider: { browser }, isPerson: true, act })).toMatchObject({ code: exitCodes.done });
});

test.each([true, false])(
  "Ctrl-C in the middle ends it with 130, and nothing is stored (a person: %s)",
  async (isPerson) => {
    const interrupt = new AbortController();
    let back = "";
    const { code, out, workspace } = await logIn({
      isPerson,
      signal: interrupt.signal,
      act(url) {
        back = url.href;
        interrupt.abort("SIGINT");
      },
    });
    expect({ code, out }).toEqual({ code: exitCodes.interrupted, out: "" });
    expect((await visit(back)).status).toBe(0);
    await nothingStored(workspace);
  },
);
