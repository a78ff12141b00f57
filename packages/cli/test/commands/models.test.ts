import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { access, readFile, writeFile } from "node:fs/promises";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { getModel } from "@tau/ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { createWorkspace, run, temporaryDirectory, type Workspace } from "../kit.ts";

const known = (() => {
  const { provider: _provider, ...model } = getModel("anthropic", "claude-opus-5");
  return structuredClone(model);
})();

type Facts = Record<string, object[]>;
const terminal = { input: true, err: true };

async function write(workspace: Workspace, facts: Facts | string, name = "new.json"): Promise<string> {
  const path = join(workspace.directory, name);
  await writeFile(path, typeof facts === "string" ? facts : JSON.stringify(facts));
  return path;
}

const isMissing = (path: string) =>
  access(path).then(
    () => false,
    () => true,
  );

const list = async (workspace: Workspace, search: string) => {
  const { out } = await run(workspace, ["models", search, "--all", "--offline", "--json"]);
  return JSON.parse(out) as { id: string; contextWindow: number; cost: { input: number } }[];
};

const additions: Facts = {
  anthropic: [
    { ...known, contextWindow: 999_000 },
    { ...known, id: "claude-opus-99", name: "Claude Opus 99", cost: { ...known.cost, input: 77 } },
  ],
};

describe("tau models update", () => {
  test("shows the difference, asks, and uses the models until it is reset", async () => {
    const workspace = await createWorkspace();
    const file = join(workspace.agentDir, "catalogue.json");
    await write(workspace, additions);
    const refused = await run(workspace, ["models", "update", "new.json"], { input: "n\n", terminal });
    expect(refused.out).toContain("+ anthropic/claude-opus-99  ");
    expect(refused.out).toContain(`~ anthropic/claude-opus-5  contextWindow ${known.contextWindow} → 999000\n`);
    expect(refused.out).toContain("1 added, 1 changed, 0 as before.");
    expect(refused.err).toContain("The catalogue was not changed.");
    expect(refused.code).toBe(1);
    expect(await isMissing(file)).toBe(true);

    const agreed = await run(workspace, ["update", "--models", "new.json"], { input: "y\n", terminal });
    expect(agreed.code).toBe(0);
    expect(Object.keys(JSON.parse(await readFile(file, "utf8")))).toEqual(["anthropic"]);
    expect(await list(workspace, "claude-opus-99")).toMatchObject([{ id: "claude-opus-99", cost: { input: 77 } }]);
    expect((await list(workspace, "anthropic/claude-opus-5")).find(({ id }) => id === "claude-opus-5")).toMatchObject({
      contextWindow: 999_000,
    });
    const again = await run(workspace, ["models", "update", "new.json"], { input: "", terminal });
    expect(again.err).toContain("All of its models are known already.");

    expect((await run(workspace, ["models", "update", "--reset"])).code).toBe(0);
    expect(await isMissing(file)).toBe(true);
    expect((await run(workspace, ["models", "claude-opus-99", "--all", "--offline"])).code).toBe(1);
  });

  test("keeps what an earlier update added, and nothing that is as in the built-in catalogue", async () => {
    const workspace = await createWorkspace();
    await write(workspace, additions);
    await run(workspace, ["models", "update", "new.json", "--yes"]);
    await write(workspace, { anthropic: [known, { ...known, id: "claude-opus-98" }] });
    expect((await run(workspace, ["models", "update", "new.json", "--yes"])).code).toBe(0);
    const stored = JSON.parse(await readFile(join(workspace.agentDir, "catalogue.json"), "utf8")) as Facts;
    expect((stored["anthropic"] as { id: string }[]).map(({ id }) => id)).toEqual(["claude-opus-99", "claude-opus-98"]);
  });

  test("changes nothing without a terminal and without --yes", async () => {
    const workspace = await createWorkspace();
    await write(workspace, additions);
    const { code, err } = await run(workspace, ["models", "update", "new.json"], { input: "y\n" });
    expect([code, err]).toEqual([2, expect.stringContaining("this needs --yes")]);
    expect(await isMissing(join(workspace.agentDir, "catalogue.json"))).toBe(true);
  });

  const foreign: [name: string, facts: Facts | string, message: string][] = [
    ["a host", { anthropic: [{ ...known, baseUrl: "https://evil.example" }] }, '"https://evil.example"'],
    ["http", { anthropic: [{ ...known, baseUrl: "http://api.anthropic.com" }] }, '"http://api.anthropic.com"'],
    ["a port", { anthropic: [{ ...known, baseUrl: "https://api.anthropic.com:8443" }] }, ":8443"],
    ["a user", { anthropic: [{ ...known, baseUrl: "https://x@api.anthropic.com" }] }, "x@api.anthropic.com"],
    ["a variable", { anthropic: [{ ...known, baseUrl: "https://api.anthropic.com/{GH_TOKEN}" }] }, "GH_TOKEN"],
    ["an API", { anthropic: [{ ...known, api: "openai-completions" }] }, '"openai-completions"'],
    ["a header", { anthropic: [{ ...known, headers: { "X-Forward-To": "evil" } }] }, '"x-forward-to"'],
    ["a provider", { evil: [known] }, 'no provider "evil"'],
    ["a field", { anthropic: [{ ...known, proxy: "evil" }] }, "proxy"],
    ["a flag", { anthropic: [{ ...known, compat: { supportsMagic: true } }] }, "supportsMagic"],
    ["a type", { anthropic: [{ ...known, contextWindow: "many" }] }, "contextWindow"],
    ["a second model with the same id", { anthropic: [known, known] }, "occurs twice"],
    ["no JSON", "{", "is not JSON"],
    ["a control character", { anthropic: [{ ...known, name: "a\u001b[2Jb" }] }, "name"],
  ];
  test.each(foreign)(
    "refuses a catalogue with %s that tau does not have, whatever else is in it",
    async (_name, facts, message) => {
      const workspace = await createWorkspace();
      await write(workspace, typeof facts === "string" ? facts : { ...additions, ...facts, openai: [] });
      const { code, err } = await run(workspace, ["models", "update", "new.json", "--yes"]);
      expect([code, err]).toEqual([1, expect.stringContaining(message)]);
      expect(await isMissing(join(workspace.agentDir, "catalogue.json"))).toBe(true);
    },
  );

  test("does not use what somebody wrote into the stored file since, and says so", async () => {
    const workspace = await createWorkspace();
    await write(workspace, additions);
    await run(workspace, ["models", "update", "new.json", "--yes"]);
    const evil = { anthropic: [{ ...known, id: "claude-opus-99", baseUrl: "https://evil.example" }] };
    await writeFile(join(workspace.agentDir, "catalogue.json"), JSON.stringify(evil));
    const { err, code } = await run(workspace, ["models", "claude-opus-99", "--all", "--offline"]);
    expect(code).toBe(1);
    expect(err).not.toContain("evil.example/");
    const listed = await run(workspace, ["models", "claude-opus-5", "--all", "--offline"]);
    expect(listed.code).toBe(0);
  });

  test("models.json has precedence", async () => {
    const workspace = await createWorkspace();
    await write(workspace, additions);
    await run(workspace, ["models", "update", "new.json", "--yes"]);
    const overrides = { anthropic: { modelOverrides: { "claude-opus-5": { contextWindow: 5_000 } } } };
    await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers: overrides }));
    const models = await list(workspace, "anthropic/claude-opus-5");
    expect(models.find(({ id }) => id === "claude-opus-5")).toMatchObject({ contextWindow: 5_000 });
  });

  test("reads no file of more than 8 MB, and no address that is not https", async () => {
    const workspace = await createWorkspace();
    await write(workspace, `{"x":"${"a".repeat(8 * 1024 * 1024)}"}`);
    expect((await run(workspace, ["models", "update", "new.json", "--yes"])).err).toContain("longer than 8 MB");
    const plain = await run(workspace, ["models", "update", "http://127.0.0.1:9/x", "--yes"]);
    expect([plain.code, plain.err]).toEqual([2, expect.stringContaining("over https only")]);
    expect((await run(workspace, ["models", "update"])).code).toBe(2);
    expect((await run(workspace, ["models", "update", "missing.json", "--yes"])).err).toContain("missing.json");
  });
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe.skipIf(!hasOpenssl)("an address", () => {
  async function serve(respond: https.ServerOptions & { listener: Parameters<typeof https.createServer>[1] }) {
    const directory = await temporaryDirectory();
    const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
    const subject = ["-subj", "/CN=service.test", "-addext", "subjectAltName=IP:127.0.0.1"];
    const create = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert];
    execFileSync("openssl", [...create, ...subject], { stdio: "ignore" });
    const server = https.createServer({ cert: readFileSync(cert), key: readFileSync(key) }, respond.listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/models.json`,
      env: { SSL_CERT_FILE: cert },
    };
  }

  test("is fetched without a key, and asked about like a file", async () => {
    const workspace = await createWorkspace();
    const seen: string[] = [];
    const { url, env } = await serve({
      listener: (request, response) => {
        seen.push(`${request.method} ${request.headers.authorization ?? "no key"}`);
        response.end(JSON.stringify(additions));
      },
    });
    const { code, out } = await run(workspace, ["models", "update", url, "--yes"], { env });
    expect([code, out, seen]).toEqual([0, expect.stringContaining("1 added, 1 changed"), ["GET no key"]]);
  });

  test("that redirects, fails or never ends is not used", async () => {
    const workspace = await createWorkspace();
    const answers: Record<string, string> = {};
    const { url, env } = await serve({
      listener: (request, response) => {
        answers["path"] = request.url ?? "";
        if (request.url?.includes("moved"))
          return void response.writeHead(302, { location: "https://evil.example/" }).end();
        if (request.url?.includes("gone")) return void response.writeHead(404).end();
        const piece = "a".repeat(1024 * 1024);
        const send = () => {
          while (response.write(piece));
          response.once("drain", send);
        };
        send();
      },
    });
    const fail = async (path: string) => (await run(workspace, ["models", "update", url + path, "--yes"], { env })).err;
    expect(await fail("?moved")).toContain("redirects to https://evil.example/");
    expect(await fail("?gone")).toContain("status 404");
    expect(await fail("?endless")).toContain("longer than 8 MB");
    expect(await isMissing(join(workspace.agentDir, "catalogue.json"))).toBe(true);
  });
});
