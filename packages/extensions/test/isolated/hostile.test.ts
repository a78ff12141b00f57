/** Whatever an isolated extension tries: the host goes on, nothing of the user is touched, and denials are written down. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { systemNetwork } from "../../src/isolated/index.ts";
import { readExtensionTrust } from "@tau/config/trust";
import { hostileCases } from "./hostile-cases.ts";
import { callTool, createPlace, createSource, canIsolate, load, open, openPolicy, type Place } from "./kit.ts";

const secrets = { GITHUB_TOKEN: "gh-secret", AWS_SECRET_ACCESS_KEY: "aws-secret", NPM_TOKEN: "npm-secret" };

function preparePlace(): Place & { outside: string } {
  const place = createPlace();
  const write = (path: string, text: string) => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  };
  write(join(place.home, "secret.txt"), "the secret");
  write(join(place.home, ".ssh", "id_ed25519"), "the secret");
  write(join(place.agentDir, "auth.json"), "the secret");
  write(join(place.cwd, "readme.txt"), "as it was");
  const outside = join(place.home, "outside.txt");
  execFileSync("git", ["init", "-q", place.cwd]);
  symlinkSync(join(place.home, "secret.txt"), join(place.cwd, "link-to-secret"));
  symlinkSync(outside, join(place.cwd, "link-to-outside"));
  return { ...place, outside };
}

async function startServer(): Promise<{ port: number; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(String(request.url));
    response.end("reached");
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, requests };
}

const innocentCode = `export default (tau) => tau.registerTool({ name: "go", label: "l", description: "d", parameters: { type: "object" }, execute: async () => ({ content: [{ type: "text", text: "fine" }] }) });`;

describe.runIf(canIsolate)("an isolated extension that", () => {
  let innocent: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    innocent = await open(innocentCode, { name: "innocent" });
  });
  afterAll(() => innocent.close());

  test.each(hostileCases)("$name", async ({ code, says, audited, problem, calls = 1, isKilled = false }) => {
    const place = preparePlace();
    const { port, requests } = await startServer();
    const text = code
      .replaceAll("SECRET", (word, offset: number) =>
        code[offset - 1] === "_" ? word : join(place.home, "secret.txt"),
      )
      .replaceAll("OUTSIDE", place.outside)
      .replaceAll("HOSTPID", String(process.pid))
      .replaceAll("HOME", place.home)
      .replaceAll("PORT", String(port));
    const source = createSource(place, text);
    const ports = { env: secrets, network: systemNetwork };
    const host = await load(text, { place, source, ports, policy: openPolicy });
    const { extension } = host;
    const answers: string[] = [];
    for (let call = 0; call < calls && extension.tools.has("go"); call++)
      answers.push(await callTool(host, "go").catch((error: Error) => error.message));

    expect(answers.at(-1)).toMatch(says);
    expect(answers.join()).not.toContain("the secret");
    if (audited !== undefined) await expect.poll(() => host.denied()).toContain(audited);
    if (problem) await expect.poll(() => host.problems.map(({ message }) => message).join("\n")).toMatch(problem);
    await expect
      .poll(() => readExtensionTrust(source, { agentDir: place.agentDir }))
      .toBe(isKilled ? "killed" : "pending");

    // Neither the host nor its neighbour noticed anything.
    expect(await callTool(innocent, "go")).toBe("fine");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(requests).toEqual([]);
    expect(existsSync(place.outside)).toBe(false);
    expect(existsSync(join(place.cwd, ".git", "hooks", "post-commit"))).toBe(false);
    expect(readFileSync(join(place.cwd, "readme.txt"), "utf8")).toBe("as it was");
    expect(readFileSync(source.path, "utf8")).toBe(text);
  });
});
