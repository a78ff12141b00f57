/** Whatever an isolated extension tries: the host goes on, nothing of the user is touched, and denials are written down. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemNetwork } from "../../src/isolated/index.ts";
import { readExtensionTrust } from "@tau/config/trust";
import { hostileCases, toolsOf } from "./hostile-cases.ts";
import {
  callTool,
  createPlace,
  canIsolate,
  load,
  open,
  type OpenHost,
  openPolicy,
  type Place,
  type TestHost,
} from "./kit.ts";

const secrets = { GITHUB_TOKEN: "gh-secret", AWS_SECRET_ACCESS_KEY: "aws-secret", NPM_TOKEN: "npm-secret" };

function preparePlace(place: Place): void {
  const write = (path: string, text: string) => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  };
  write(join(place.home, "secret.txt"), "the secret");
  write(join(place.home, ".ssh", "id_ed25519"), "the secret");
  write(join(place.agentDir, "auth.json"), "the secret");
  write(join(place.cwd, "readme.txt"), "as it was");
  execFileSync("git", ["init", "-q", place.cwd]);
  symlinkSync(join(place.home, "secret.txt"), join(place.cwd, "link-to-secret"));
  symlinkSync(getOutside(place), join(place.cwd, "link-to-outside"));
}

const getOutside = ({ home }: Place) => join(home, "outside.txt");

/** Fills in what a case names. */
const fillIn = (code: string, place: Place, port: number): string =>
  code
    .replaceAll("SECRET", (word, offset: number) => (code[offset - 1] === "_" ? word : join(place.home, "secret.txt")))
    .replaceAll("OUTSIDE", getOutside(place))
    .replaceAll("HOSTPID", String(process.pid))
    .replaceAll("HOME", place.home)
    .replaceAll("PORT", String(port));

async function startServer(): Promise<{ port: number; requests: string[]; close: () => void }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(String(request.url));
    response.end("reached");
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  return { port: (server.address() as AddressInfo).port, requests, close: () => void server.close() };
}

const innocentCode = `export default (tau) => tau.registerTool({ name: "go", label: "l", description: "d", parameters: { type: "object" }, execute: async () => ({ content: [{ type: "text", text: "fine" }] }) });`;

const hostOptions = { ports: { env: secrets, network: systemNetwork }, policy: openPolicy };

/** By the names of their tools. Each has an extension of its own in a long run, and otherwise all share one. */
const calls = new Map(hostileCases.flatMap((row, index) => ("tries" in row ? [[`try-${index}`, row] as const] : [])));
const isLong = Boolean(process.env["TAU_LONG"]);

describe.runIf(canIsolate)("an isolated extension that", () => {
  let innocent: OpenHost;
  let shared: OpenHost & { text: string };
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer();
    innocent = await open(innocentCode, { name: "innocent" });
    let text = "";
    const host = await open((place) => {
      preparePlace(place);
      return (text = fillIn(toolsOf(Object.fromEntries(calls)), place, server.port));
    }, hostOptions);
    shared = { ...host, text };
  });
  afterAll(async () => {
    await shared.close();
    await innocent.close();
    server.close();
  });

  async function openOwn(code: string): Promise<TestHost & { text: string }> {
    const place = createPlace();
    preparePlace(place);
    const text = fillIn(code, place, server.port);
    return { ...(await load(text, { ...hostOptions, place })), text };
  }

  test.each(hostileCases)("$name", async (row) => {
    const { says, audited, problem, calls: count = 1, isKilled = false } = row;
    const [name] = "tries" in row ? [...calls].find(([, call]) => call === row)! : ["go"];
    const host = "code" in row ? await openOwn(row.code) : isLong ? await openOwn(toolsOf({ [name]: row })) : shared;
    const { extension, place, source, text } = host;
    const denialsBefore = host.denied().length;
    const answers: string[] = [];
    for (let call = 0; call < count && extension.tools.has(name); call++)
      answers.push(await callTool(host, name).catch((error: Error) => error.message));

    expect(answers.at(-1)).toMatch(says);
    expect(answers.join()).not.toContain("the secret");
    if (audited !== undefined) await expect.poll(() => host.denied().slice(denialsBefore)).toContain(audited);
    if (problem) await expect.poll(() => host.problems.map(({ message }) => message).join("\n")).toMatch(problem);
    await expect
      .poll(() => readExtensionTrust(source, { agentDir: place.agentDir }))
      .toBe(isKilled ? "killed" : "pending");

    // Neither the host nor its neighbour noticed anything.
    expect(await callTool(innocent, "go")).toBe("fine");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(server.requests).toEqual([]);
    expect(existsSync(getOutside(place))).toBe(false);
    expect(existsSync(join(place.cwd, ".git", "hooks", "post-commit"))).toBe(false);
    expect(readFileSync(join(place.cwd, "readme.txt"), "utf8")).toBe("as it was");
    expect(readFileSync(source.path, "utf8")).toBe(text);
  });
});
