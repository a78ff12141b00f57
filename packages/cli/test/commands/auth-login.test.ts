/** Logins against an authorization server on this machine, with a simulated browser. */
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
} from "../../../config/test/auth/authorization-server.ts";
import { visit } from "../../../config/test/auth/kit.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run, type RunOptions, type RunResult, type Workspace } from "../kit.ts";

interface Login {
  method?: "browser" | "paste";
  /** Whether there is a terminal. Its input stays open. */
  isInteractive?: boolean;
  signal?: AbortSignal;
  provider?: Parameters<AuthorizationServer["provider"]>[0];
  /** Called once, when the address is shown, with the address to which the browser would be redirected. */
  act: (back: URL, typed: PassThrough) => unknown;
}

async function logIn(login: Login): Promise<RunResult & { workspace: Workspace; server: AuthorizationServer }> {
  const { method = "browser", isInteractive = false, provider, act } = login;
  const workspace = await createWorkspace();
  const server = await startAuthorizationServer();
  const typed = new PassThrough();
  let isShown = false;
  const options: RunOptions = {
    input: typed,
    terminal: { input: isInteractive, err: isInteractive },
    oauthProviders: [server.provider(provider)],
    ...(login.signal && { signal: login.signal }),
    onErr(err) {
      const url = /^ {2}(http\S+)$/m.exec(err)?.[1];
      // On a terminal, a question follows the address.
      if (isShown || url === undefined || (isInteractive && !err.endsWith(": "))) return;
      isShown = true;
      void act(new URL(server.approve(url)), typed);
    },
  };
  const result = await run(workspace, ["auth", "login", "here", "--method", method], options);
  expect(isShown || result.code !== exitCodes.done).toBe(true);
  // No token is ever shown. A code is only echoed when it is pasted.
  expect(result.out + result.err).not.toMatch(new RegExp(`${isInteractive ? "(?:access|refresh)-" : ""}${canary}`));
  return { ...result, workspace, server };
}

const readStored = async ({ agentDir }: Workspace) =>
  JSON.parse(await readFile(join(agentDir, "auth.json"), "utf8")) as Record<string, { access: string }>;

const expectNothingStored = ({ agentDir }: Workspace) =>
  expect(stat(join(agentDir, "auth.json"))).rejects.toMatchObject({ code: "ENOENT" });

test("a login in the browser is stored, readable only by its owner", async () => {
  const { code, out, err, workspace, server } = await logIn({ act: (back) => visit(back.href) });
  expect({ code, out }).toEqual({
    code: exitCodes.done,
    out: "Logged in to here. tau models here lists its models.\n",
  });
  expect(err).toMatch(/^Open this in a browser:\n {2}http:\S+\n$/);
  expect((await readStored(workspace))["here"]?.access).toContain(canary);
  expect((await stat(join(workspace.agentDir, "auth.json"))).mode & 0o777).toBe(0o600);
  expect(server.grants).toEqual(["authorization_code"]);
  const status = await run(workspace, ["auth", "status"]);
  expect(status.out).toMatch(/^here +auth\.json, login, renewed after /m);
  expect(status.out).not.toContain(canary);
});

test.each(["browser", "paste"] as const)("with the method %s, a pasted address is accepted", async (method) => {
  const act: Login["act"] = (back, typed) => typed.write(`${back.href}\n`);
  const { code, err, workspace } = await logIn({ method, isInteractive: true, act });
  expect(code).toBe(exitCodes.done);
  expect(err).toContain("paste the final address, or the code in it");
  expect((await readStored(workspace))["here"]?.access).toContain(canary);
});

test("a question that is withdrawn ends its line", async () => {
  const { code, err } = await logIn({ isInteractive: true, act: (back) => visit(back.href) });
  expect(code).toBe(exitCodes.done);
  expect(err).toMatch(/or the code in it: \n$/);
});

test("a login that is refused in the browser fails in one line, and nothing is stored", async () => {
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
  await expectNothingStored(workspace);
});

test("a request with a wrong state is refused, and the right one is still accepted", async () => {
  const statuses: number[] = [];
  const { code } = await logIn({
    async act(back) {
      const wrong = new URL(back);
      wrong.searchParams.set("state", "guessed");
      for (const url of [wrong, back]) statuses.push((await visit(url.href)).status);
    },
  });
  expect(code).toBe(exitCodes.done);
  expect(statuses).toEqual([400, 200]);
});

test("a pasted address of another login is refused, and nothing is stored", async () => {
  const { code, err, workspace, server } = await logIn({
    isInteractive: true,
    act(back, typed) {
      back.searchParams.set("state", "guessed");
      typed.write(`${back.href}\n`);
    },
  });
  expect(code).toBe(exitCodes.failed);
  expect(err).toMatch(/tau auth: The pasted text belongs to another login\..*\n$/);
  expect(server.grants).toEqual([]);
  await expectNothingStored(workspace);
});

test("a code that the server refuses fails in one line, and nothing is stored", async () => {
  const { code, err, workspace } = await logIn({
    act(back) {
      back.searchParams.set("code", "no-code-of-ours");
      return visit(back.href);
    },
  });
  expect(code).toBe(exitCodes.failed);
  expect(err).toMatch(/\ntau auth: Here did not accept the code: .*\n$/);
  await expectNothingStored(workspace);
});

test("a port that is in use is an error, unless the user can paste the address", async () => {
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
  await expectNothingStored(alone.workspace);
  const act: Login["act"] = (back, typed) => typed.write(`${back.href}\n`);
  expect(await logIn({ provider: { browser }, isInteractive: true, act })).toMatchObject({ code: exitCodes.done });
});

test.each([true, false])(
  "Ctrl-C during a login exits with 130, and nothing is stored (interactive: %s)",
  async (isInteractive) => {
    const interrupt = new AbortController();
    let back = "";
    const { code, out, workspace } = await logIn({
      isInteractive,
      signal: interrupt.signal,
      act(url) {
        back = url.href;
        interrupt.abort("SIGINT");
      },
    });
    expect({ code, out }).toEqual({ code: exitCodes.interrupted, out: "" });
    expect((await visit(back)).status).toBe(0);
    await expectNothingStored(workspace);
  },
);

test("the providers that most people have come first in the list", async () => {
  const terminal = { input: true, err: true };
  const { err } = await run(await createWorkspace(), ["auth", "login"], { input: "\n", terminal });
  const places = ["anthropic", "openai", "google", "mistral", "amazon-bedrock"].map((name) =>
    err.search(` ${name}\\b`),
  );
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
});
