/** A real Chromium in real sessions, with servers that run in the sandbox of the session or outside of it. */
import { spawnSync } from "node:child_process";
import { systemClock, type ToolResultMessage } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import type { Question } from "@tau/policy";
import { browser, discovery } from "../../src/index.ts";
import { findBrowser } from "../../src/browser/find-browser.ts";
import type { BrowserArguments } from "../../src/browser/feature.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

/** Why nothing is tested here; undefined if it is. */
export const whyNoBrowser = (() => {
  if (findBrowser(undefined, process.env["PATH"]) === undefined) return "there is no Chromium or Chrome here";
  const works = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;
  return works ? undefined : "bubblewrap does not work here";
})();
if (whyNoBrowser !== undefined) process.stderr.write(`SKIPPED: ${whyNoBrowser}, so the browser is not tested.\n`);

export interface BrowserCall {
  text: string;
  isError: boolean;
  message: ToolResultMessage;
}

export type Answer = (question: Question) => "allow" | "deny";

/** A session whose model makes the calls that a test asks for. The last question decides by `setAnswer`. */
export async function openBrowser(params: Omit<TestSessionParams, "settings"> & { settings?: object } = {}) {
  const questions: Question[] = [];
  let answer: Answer = () => "allow";
  const opened = await createTestSession([], {
    policyProfile: "permissive",
    sandbox: { mode: "required" },
    ask: async (question: Question) => {
      questions.push(question);
      return { decision: answer(question) };
    },
    // Programs are real, and so is the time that they need.
    clock: systemClock,
    features: [browser(), discovery()],
    ...params,
  } as unknown as TestSessionParams);
  let count = 0;
  const callTool = async (name: string, args: object): Promise<BrowserCall> => {
    const id = `call-${++count}`;
    opened.model.add([call(name, args as Record<string, unknown>, id)], [text("Done.")]);
    await opened.prompt("go");
    const message = opened.session.messages.findLast(
      (each): each is ToolResultMessage => each.role === "toolResult" && each.toolCallId === id,
    )!;
    const shown = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    return { text: shown, isError: message.isError, message };
  };
  /** Calls the tool. */
  const use = (action: BrowserArguments["action"], args: Omit<BrowserArguments, "action"> = {}) =>
    callTool("call_tool", { name: "browser", arguments: { action, ...args } });
  /** Calls the tool, and fails if that does. */
  const must = async (...args: Parameters<typeof use>) => {
    const result = await use(...args);
    if (result.isError) throw new Error(result.text);
    return result.text;
  };
  return { ...opened, questions, setAnswer: (next: Answer) => (answer = next), callTool, use, must };
}

/** Finds the reference of the element whose line in the tree has a text. */
export function findRef(tree: string, part: string): string {
  const line = tree.split("\n").find((each) => each.includes(part) && each.includes("[ref="));
  const ref = /\[ref=((?:f\d+)?e\d+)\]/.exec(line ?? "")?.[1];
  if (ref === undefined) throw new Error(`Nothing has ${part}:\n${tree}`);
  return ref;
}

export type BrowserSession = Awaited<ReturnType<typeof openBrowser>>;

/** The processes of this machine whose arguments contain a text. */
export const findProcesses = (part: string): string[] =>
  spawnSync("ps", ["-eo", "pid=,stat=,args="], { encoding: "utf8", maxBuffer: 1 << 26 })
    .stdout.split("\n")
    .filter((line) => line.includes(part) && !/^\s*\d+ Z/.test(line));

/** A server on loopback, for a command of the session: it serves the pages that it is given, and says when it listens. */
export const serverSource = String.raw`
import { createServer } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
const pages = JSON.parse(readFileSync("pages.json", "utf8"));
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const url = new URL(request.url, "http://localhost");
    const page = pages[url.pathname];
    if (url.pathname === "/echo") {
      response.setHeader("content-type", "text/plain");
      return response.end("got " + url.search + Buffer.concat(chunks).toString("latin1").replaceAll(/[^\x20-\x7e\n]/g, "."));
    }
    if (!page) return response.writeHead(404).end("Not here.");
    response.writeHead(page.status ?? 200, { "content-type": "text/html", ...page.headers });
    if (!page.isEndless) return response.end(page.body ?? "");
    const chunk = Buffer.alloc(1 << 20);
    const send = () => { while (response.write(chunk)); };
    response.on("drain", send).on("error", () => undefined);
    send();
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log("listening at " + server.address().port));
`;
