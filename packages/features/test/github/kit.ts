/** A server that plays the REST API of GitHub, a program that plays `gh`, and sessions that use them. */
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, type Clock, type ToolResultMessage } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import type { Question } from "@tau/policy";
import { onTestFinished } from "vitest";
import { github } from "../../src/index.ts";
import type { GitHubArguments } from "../../src/github/feature.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

export type Route = (request: SeenRequest, response: ServerResponse, origin: string) => void;

/** Routes are methods and paths without a query, such as `GET /repos/o/r/issues/1`. Others are not found. */
export async function startGitHub(routes: Readonly<Record<string, Route>>) {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const { method = "", url = "", headers } = request;
      const read = { method, url, headers, body: body === "" ? undefined : (JSON.parse(body) as unknown) };
      seen.push(read);
      const route = routes[`${method} ${url.split("?")[0]}`];
      if (route) route(read, response, origin);
      else response.writeHead(404, { "content-type": "application/json" }).end('{"message":"Not Found"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin, seen };
}

export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Route =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));

/** A list in pages, as GitHub links them. */
export const pages =
  (items: readonly unknown[], toAnswer: (page: readonly unknown[]) => unknown = (page) => page): Route =>
  ({ url }, response, origin) => {
    const address = new URL(url, origin);
    const size = Number(address.searchParams.get("per_page") ?? 30);
    const page = Number(address.searchParams.get("page") ?? 1);
    const rest = items.slice(page * size);
    address.searchParams.set("page", String(page + 1));
    const link = rest.length > 0 ? { link: `<${origin}/x>; rel="prev", <${address.href}>; rel="next"` } : {};
    const answer = toAnswer(items.slice((page - 1) * size, page * size));
    response.writeHead(200, { "content-type": "application/json", ...link }).end(JSON.stringify(answer));
  };

/** A directory with a program `gh` that answers as the script does: a function of its arguments and its input. */
export function writeGh(script: string): { directory: string; log: string } {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-gh-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const log = join(directory, "log");
  const source = `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const args = process.argv.slice(2);
const input = args.includes("--input") ? readFileSync(0, "utf8") : "";
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args, input, token: process.env.GH_TOKEN ?? null, path: process.env.SECRET_OF_THE_USER ?? null }) + "\\n");
${script}
`;
  writeFileSync(join(directory, "gh"), source);
  chmodSync(join(directory, "gh"), 0o755);
  return { directory, log };
}

interface Options extends Omit<TestSessionParams, "settings" | "clock"> {
  settings?: object;
  env?: Readonly<Record<string, string>>;
  clock?: Clock;
  answer?: (question: Question) => "allow" | "deny";
}

/** A session with the tool on, whose model makes the calls that a test asks for. */
export async function openGitHub({
  settings = {},
  env = {},
  clock = systemClock,
  answer = () => "allow",
  ...params
}: Options) {
  const questions: Question[] = [];
  const opened = await createTestSession([], {
    sandbox: { mode: "off" },
    ask: async (question: Question) => {
      questions.push(question);
      return { decision: answer(question) };
    },
    clock: systemClock,
    // No test reaches GitHub itself.
    features: [github({ clock, env: (name) => env[name], lookup: async () => [] })],
    ...params,
    settings: { tools: { enabled: ["github"] }, ...settings },
  } as unknown as TestSessionParams);
  onTestFinished(() => opened.dispose());
  let count = 0;
  const callTool = async (name: string, args: object) => {
    const id = `call-${++count}`;
    opened.model.add([call(name, args as Record<string, unknown>, id)], [text("Done.")]);
    await opened.prompt("go");
    const message = opened.session.messages.findLast(
      (each): each is ToolResultMessage => each.role === "toolResult" && each.toolCallId === id,
    )!;
    const shown = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    return { text: shown, isError: message.isError };
  };
  const use = (args: GitHubArguments) => callTool("github", args);
  return { ...opened, questions, callTool, use };
}
