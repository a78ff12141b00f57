/** Which tools the model is shown, and the proxy of the settings. */
import { writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, type ModelWorkspace, run, textReply } from "./kit.ts";

const workspaceWith = async (settings: object): Promise<ModelWorkspace> => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  await writeFile(
    join(workspace.agentDir, "settings.json"),
    JSON.stringify({ defaultModel: "acme/small", ...settings }),
  );
  return workspace;
};

/** The names of the tools that the model was shown, and standard error. */
async function shown(args: string[], settings: object = {}): Promise<{ tools: string; err: string }> {
  const workspace = await workspaceWith(settings);
  const { code, err } = await run(workspace, [...args, "-p", "Hi"]);
  expect(code).toBe(exitCodes.done);
  const { tools = [] } = workspace.server.requests[0]!.body as { tools?: { function: { name: string } }[] };
  return { tools: tools.map((tool) => tool.function.name).join(" "), err };
}

test("--tools and --exclude-tools take patterns, and * is every tool of the defaults", async () => {
  const { tools: all } = await shown([]);
  expect((await shown(["--tools", "*"])).tools).toBe(all);
  expect((await shown(["--tools", "read,*re*"])).tools).toBe("read grep ast_grep");
  expect((await shown(["--tools", "hashline_*"])).tools).toBe("hashline_edit hashline_patch");
  expect((await shown(["--tools", "*", "--exclude-tools", "*s*,find"])).tools).toBe("read write edit grep todo");
});

test("--tools with + and - changes the default tools, after the settings", async () => {
  const { tools: all } = await shown([]);
  const without = (names: string[]) => all.split(" ").filter((name) => !names.includes(name));
  expect((await shown(["--tools", "-write,-edit"])).tools).toBe(without(["write", "edit"]).join(" "));
  const { tools } = await shown(["--tools", "+hashline_edit,-ls"], { defaultTools: ["-find"] });
  expect(tools.split(" ").toSorted()).toEqual([...without(["ls", "find"]), "hashline_edit"].toSorted());
});

test("--tools has names or changes, not both", async () => {
  const workspace = await workspaceWith({});
  expect(await run(workspace, ["--tools", "read,-ls", "-p", "Hi"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringContaining("--tools has either names or changes (+name, -name), not both"),
  });
});

test.each([
  [["--tools", "+raed"], 'There is no tool "raed". Did you mean "read"?'],
  [["--tools", "raed"], 'There is no tool "raed". Did you mean "read"?'],
  [["--tools", "*gerp*"], 'No tool matches "*gerp*". Did you mean "grep"?'],
  [["--exclude-tools", "bsh*"], 'No tool matches "bsh*".'],
])("%j matches nothing and is a usage error", async (args, message) => {
  const { code, err } = await run(await workspaceWith({}), [...args, "-p", "Hi"]);
  expect({ code, err }).toEqual({ code: exitCodes.usage, err: expect.stringContaining(`tau: ${message}`) });
});

test("the settings of tools take patterns, and one that matches nothing is a notice", async () => {
  expect(await shown([], { tools: { allowed: ["*re*", "ls"], excluded: ["l*"] } })).toEqual({
    tools: "read grep ast_grep",
    err: "",
  });
  const { err } = await shown([], { tools: { allowed: ["read", "gerp"], excluded: ["nothing_*"] } });
  expect(err).toContain('tau: The setting tools.allowed: There is no tool "gerp". Did you mean "grep"?\n');
  expect(err).toContain('tau: The setting tools.excluded: No tool matches "nothing_*".');
});

test("defaultTools replaces the defaults, or adds to them and removes from them", async () => {
  expect(await shown([], { defaultTools: ["read", "grep"] })).toEqual({ tools: "read grep", err: "" });
  expect((await shown([], { defaultTools: [] })).tools).toBe("");
  const { tools: all } = await shown([]);
  const { tools, err } = await shown([], { defaultTools: ["-bash", "+hashline_patch", "-gerp"] });
  expect(tools.split(" ").toSorted()).toEqual(
    [...all.split(" ").filter((name) => name !== "bash"), "hashline_patch"].toSorted(),
  );
  expect(err).toBe('tau: The setting defaultTools: There is no tool "gerp". Did you mean "grep"?\n');
  expect((await shown(["--tools", "ls"], { defaultTools: ["read"] })).tools).toBe("ls");
});

test("--tools and defaultTools take the tools of the session itself", async () => {
  expect(await shown(["--tools", "read,session_navigate"])).toEqual({ tools: "read session_navigate", err: "" });
  expect((await shown(["--tools", "session_*"])).tools).toBe("session_branch session_navigate");
  const { tools: all } = await shown([]);
  expect(await shown([], { defaultTools: ["+session_navigate"] })).toEqual({
    tools: `${all} session_navigate`,
    err: "",
  });
});

test("httpProxy is used for providers, unless the environment names a proxy or excludes the host", async () => {
  for (const name of ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"]) {
    vi.stubEnv(name, "");
  }
  onTestFinished(() => void vi.unstubAllEnvs());
  const startProxy = async (target: string) => {
    const seen: string[] = [];
    const proxy = createServer((incoming, response) => {
      seen.push(incoming.url ?? "");
      const { pathname } = new URL(incoming.url ?? "");
      const forward = request(new URL(pathname, target), { method: "POST", headers: incoming.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      incoming.pipe(forward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    return { seen, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  };
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two.")]);
  const [first, second] = [await startProxy(workspace.server.url), await startProxy(workspace.server.url)];
  const { pathname } = new URL(workspace.server.url);
  const models = [{ id: "small", name: "Small", contextWindow: 64_000, maxTokens: 4_000 }];
  const acme = {
    baseUrl: `http://models.invalid${pathname}`,
    api: "openai-completions",
    apiKey: "acme-key-01234567",
    models,
  };
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  const settings = { defaultModel: "acme/small", retry: { enabled: false }, httpProxy: first.url };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  expect(await run(workspace, ["-p", "Hi"])).toEqual({ code: 0, out: "One.\n", err: "" });
  expect(first.seen).toEqual([expect.stringMatching(/^http:\/\/models\.invalid\//)]);
  vi.stubEnv("ALL_PROXY", second.url);
  expect(await run(workspace, ["-p", "Hi"])).toEqual({ code: 0, out: "Two.\n", err: "" });
  expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
  vi.stubEnv("ALL_PROXY", "");
  vi.stubEnv("NO_PROXY", "models.invalid");
  expect(await run(workspace, ["-p", "Hi"])).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(first.seen).toHaveLength(1);
});

test("a proxy that is not an address is refused", async () => {
  const workspace = await workspaceWith({});
  const { code, err } = await run(workspace, ["config", "set", "httpProxy", "proxy:8080"]);
  expect(code).toBe(exitCodes.usage);
  expect(err).toContain("an address that begins with http:// or https://");
});
