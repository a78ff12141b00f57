/** The reference servers, for real, over each transport. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer as createHttpServer, request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { createProxiedFetch } from "@tau/ai/internal";
import { expect, onTestFinished, test } from "vitest";
import { createTestServers, getReferenceServer, makeDirectory } from "./kit.ts";

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the server `everything` with its own HTTP server. Resolves with its port. */
async function startEverything(mode: "streamableHttp" | "sse"): Promise<number> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [getReferenceServer("everything"), mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(async () => {
    const exit = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exit;
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => /running|listening/i.test(chunk.toString()) && resolve());
    child.once("exit", () => reject(new Error("it ended")));
  });
  return port;
}

const callEcho = async ({ servers }: Awaited<ReturnType<typeof createTestServers>>) => {
  const connected = await servers.connect("everything");
  expect(connected).toMatchObject({ kind: "connected" });
  const tool = servers.findTool("everything", "echo");
  if ("kind" in tool) throw new Error(tool.message);
  return await servers.run("everything", (connection) => connection.callTool(tool, { message: "hello" }, {}));
};

test("everything is used over stdio", async () => {
  const opened = await createTestServers({
    configured: { everything: { command: process.execPath, args: [getReferenceServer("everything"), "stdio"] } },
  });
  expect(opened.programs.started).toEqual([]);
  expect(await callEcho(opened)).toMatchObject({ content: [{ type: "text", text: "Echo: hello" }] });
  const view = opened.servers.get("everything")!;
  expect(view.state).toMatchObject({ kind: "ready", revision: "2025-11-25" });
  expect(view.definitions!.prompts.length).toBeGreaterThan(1);
  expect(view.definitions!.hasResources).toBe(true);
});

test.each(["streamableHttp", "sse"] as const)("everything is used over %s, also without a type", async (mode) => {
  const port = await startEverything(mode);
  const url = `http://127.0.0.1:${port}/${mode === "sse" ? "sse" : "mcp"}`;
  for (const type of [mode === "sse" ? "sse" : "http", undefined]) {
    const opened = await createTestServers({ configured: { everything: { url, ...(type && { type }) } } });
    expect(await callEcho(opened)).toMatchObject({ content: [{ type: "text", text: "Echo: hello" }] });
    expect(opened.questions).toEqual([]);
  }
});

/** A proxy that leads every host to one port of this machine. Resolves with its address, and the hosts that were asked for. */
async function startProxy(port: number): Promise<{ proxy: string; hosts: Set<string> }> {
  const hosts = new Set<string>();
  const server = createHttpServer((incoming, response) => {
    const { host, pathname } = new URL(incoming.url!);
    hosts.add(host);
    const { method, headers } = incoming;
    const outgoing = request({ port, path: pathname, method, headers: { ...headers, host: `127.0.0.1:${port}` } });
    outgoing.once("response", (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { proxy: `http://127.0.0.1:${(server.address() as { port: number }).port}`, hosts };
}

test("a server is reached through the proxy that the environment names", async () => {
  const { proxy, hosts } = await startProxy(await startEverything("streamableHttp"));
  const fetch = createProxiedFetch((name) => (name === "http_proxy" ? proxy : undefined));
  const opened = await createTestServers({
    configured: { everything: { url: "http://docs.invalid/mcp", type: "http" } },
    fetch,
  });
  expect(await callEcho(opened)).toMatchObject({ content: [{ type: "text", text: "Echo: hello" }] });
  expect([...hosts]).toEqual(["docs.invalid"]);
});

test("filesystem and memory do their work", async () => {
  const directory = await makeDirectory();
  await writeFile(join(directory, "note.txt"), "a note");
  const { servers } = await createTestServers({
    // The server takes its directories from the roots that it is told, which are this one.
    cwd: directory,
    configured: {
      filesystem: { command: process.execPath, args: [getReferenceServer("filesystem"), "/"] },
      memory: {
        command: process.execPath,
        args: [getReferenceServer("memory")],
        env: { MEMORY_FILE_PATH: join(directory, "memory.jsonl") },
      },
    },
  });
  const call = async (server: string, name: string, args: Record<string, unknown>) => {
    await servers.connect(server);
    const tool = servers.findTool(server, name);
    if ("kind" in tool) throw new Error(tool.message);
    return await servers.run(server, (connection) => connection.callTool(tool, args, {}));
  };
  expect(await call("filesystem", "read_text_file", { path: join(directory, "note.txt") })).toMatchObject({
    content: [{ text: "a note" }],
  });
  const entity = { name: "tau", entityType: "program", observations: ["it runs"] };
  await call("memory", "create_entities", { entities: [entity] });
  expect(JSON.stringify(await call("memory", "read_graph", {}))).toContain("it runs");
});
