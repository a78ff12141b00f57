/**
 * The interactive program on a session of 100,000 entries, compared with an empty one: CPU and memory up to the first
 * complete frame and the end, the time from a key until its frame, and in the full screen the time to scroll back a page.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@tau/harness";
import { createWorkspace, installProgram, interleaved } from "./packed-program.mjs";
import { measureInTerminal } from "./terminal-program.mjs";

const rounds = 6;
const entries = 100_000;
const entryBytes = 1_000;
const compactionEvery = 200;
const keys = 200;

export default async function bench(report) {
  const installation = await installProgram();
  const workspace = await createWorkspace(installation, [], "long");
  const long = await createSession(workspace, entries);
  const empty = await createSession(workspace, 0);
  const open = (session, drive) => () =>
    measureInTerminal([installation.program, "--session", session], { ...installation, workspace, drive });
  // The first run writes the index.
  await open(long, leave)();
  await open(empty, leave)();
  const [opened, base] = await interleaved([open(long, leave), open(empty, leave)], rounds);
  report("first frame of an empty session", base.cpuMs, "ms of CPU");
  report("first frame", opened.cpuMs, "ms of CPU");
  report("first frame", opened.cpuMs / base.cpuMs, "times an empty session (at most 1.3)");
  report("memory above an empty session", (opened.peakBytes - base.peakBytes) / 1e6, "MB (at most 15)");
  for (const [name, session] of Object.entries({ "an empty session": empty, "the long session": long })) {
    const typing = createTyping("x", "\x03\x04");
    await open(session, typing.drive)();
    report(`a key until its frame in ${name}`, typing.getPercentile(0.95), "ms, p95 (at most 15)");
  }
  await useFullScreen(workspace);
  const scrolling = createTyping("\x1b[5~", "\x04");
  await open(long, scrolling.drive)();
  report("scrolling back a page", scrolling.getPercentile(0.95), "ms, p95 (at most 30)");
  await workspace.server.close();
}

async function createSession({ directory, agentDir }, count) {
  const session = await SessionManager.create(directory, agentDir, { durability: "none" });
  const ids = [];
  for (let index = 0; index < count; index++) {
    if (index % compactionEvery === compactionEvery - 1) {
      await session.appendCompaction("so far", ids.at(-20), 100_000);
    }
    const text = `${index} `.padEnd(entryBytes - 220, "word ");
    ids.push(await session.appendMessage({ role: "user", content: [{ type: "text", text }], timestamp: index }));
  }
  if (count === 0) await session.appendSessionInfo("empty");
  await session.close();
  return session.getSessionFile();
}

/** The status line is the last part of the first complete frame. */
const isComplete = (written) => written.includes("/1.0M");

function leave(written, type) {
  if (!isComplete(written)) return false;
  type("\x04");
  return true;
}

async function useFullScreen({ agentDir }) {
  const file = join(agentDir, "settings.json");
  const settings = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify({ ...settings, tuiMode: "fullscreen" }));
}

/** Presses one key again and again, each time when the frame of the one before has arrived; then those that leave. */
function createTyping(key, leaving) {
  const times = [];
  let startedAt;
  let isWaiting = false;
  const drive = (written, type) => {
    if (!isComplete(written)) return false;
    // A frame may arrive in several pieces.
    if (isWaiting) return false;
    if (startedAt !== undefined) times.push(performance.now() - startedAt);
    if (times.length === keys) {
      type(leaving);
      return true;
    }
    // Not within the interval between two frames, which a person does not reach either.
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      startedAt = performance.now();
      type(key);
    }, 25);
    return false;
  };
  const getPercentile = (part) => times.toSorted((a, b) => a - b)[Math.floor(times.length * part)];
  return { drive, getPercentile };
}
