/** A program outside that connects to a server in the sandbox of a session. */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import type { Answer, Question } from "@tau/policy";
import { findProgram } from "@tau/sandbox/internal";
import { openDesk, temporaryDirectory } from "../agent-session/desk.ts";

const isMissing = findProgram("bwrap", "/nowhere") === undefined;

async function findPort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const serve = (port: number) =>
  `perl -MSocket=:all -e 'socket(S, AF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(${port}, INADDR_LOOPBACK)) or die $!; listen(S, 5); while (accept(C, S)) { syswrite C, "from inside"; close C }'`;

/** Undefined if nobody listens. */
const askPort = (port: number) => readText(connect(port, "127.0.0.1")).catch(() => undefined);

test.skipIf(isMissing)("the person is asked when their browser connects, and not when the server starts", async () => {
  const root = await temporaryDirectory();
  await mkdir(join(root, "work"));
  const port = await findPort();
  const questions: Question[] = [];
  const ask = async (question: Question): Promise<Answer> => {
    questions.push(question);
    return { decision: "allow", choice: "session" };
  };
  const turns = [[call("bash", { command: serve(port), background: true })], [text("Done.")]];
  const { session } = await openDesk(turns, {
    cwd: join(root, "work"),
    agentDir: join(root, "agent"),
    ask,
    sandbox: { mode: "required" },
  });
  await session.prompt("Start a server.");
  expect(questions).toEqual([]);
  await expect.poll(() => askPort(port)).toBe("from inside");
  expect(questions).toMatchObject([{ host: `127.0.0.1:${port}`, toolName: "bash" }]);
  expect(await askPort(port)).toBe("from inside");
  expect(questions).toHaveLength(1);
  await session.dispose();
  await expect.poll(() => askPort(port)).toBeUndefined();
});
