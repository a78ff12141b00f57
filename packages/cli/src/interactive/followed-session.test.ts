import { type Command, emptyView, type View } from "@tau/protocol";
import { expect, test } from "vitest";
import { FollowedSession } from "./followed-session.ts";
import { createLook } from "./look.ts";
import { Highlighter } from "./highlight/highlight.ts";
import { Remarks } from "./remarks.ts";
import type { SessionClient } from "./session-client.ts";
import type { TerminalSettings } from "./settings.ts";
import { Themes } from "./themes.ts";
import { Transcript } from "./transcript.ts";
import { VirtualTerminal } from "@tau/tui/testing";

const settings = {
  markdown: { codeBlockIndent: "  " },
  outputPad: 1,
  hideThinkingBlock: false,
  terminal: { showImages: false, imageWidthCells: 20 },
} as TerminalSettings;

const running = { ...emptyView, live: { ...emptyView.live, run: { startedAt: 0 } } } as unknown as View;

/** Clients of two sessions, which log what is asked of them. The first one is running. */
async function open() {
  const { theme } = new Themes({ mode: "none", files: [] });
  const terminal = await VirtualTerminal.create(40, 10);
  const look = createLook({ theme, terminal, highlighter: new Highlighter(theme, () => {}), settings });
  const transcript = new Transcript({ look, now: () => 0, describeOlder: () => "" });
  const log: string[] = [];
  const createClient = (sessionId: string): SessionClient => ({
    sessionId,
    execute: async (command: Command) => {
      log.push(`${sessionId} ${command.type}`);
      return {} as never;
    },
    subscribe: (onSnapshot) => {
      log.push(`${sessionId} subscribe`);
      onSnapshot(sessionId === "a" ? running : emptyView);
      return () => log.push(`${sessionId} unsubscribe`);
    },
    to: createClient,
  });
  const session = new FollowedSession(createClient("a"), new Remarks(transcript, () => {}));
  session.listen({
    onSwitch: async () => void log.push("switch"),
    onClear: () => log.push("clear"),
    onSnapshot: (view) => log.push(view.live.run ? "running" : "idle"),
    onEvent: () => {},
    onShown: async () => void log.push(`shown ${session.client.sessionId}`),
  });
  return { session, log, draw: () => transcript.render(60).join("\n") };
}

test("a session that is left with a run is stopped first, and nothing of it is taken any more", async () => {
  const { session, log, draw } = await open();
  await session.show(session.client);
  await session.showId("b");
  const first = ["switch", "clear", "a subscribe", "running", "shown a"];
  const second = ["a abort", "a unsubscribe", "switch", "clear", "b subscribe", "idle", "shown b"];
  expect(log).toEqual([...first, ...second]);
  expect(draw()).toContain("The run in the other session was stopped.");
});

test("sessions that are wanted at once are shown in turn", async () => {
  const { session, log } = await open();
  await Promise.all([session.showId("b"), session.showId("c")]);
  expect(log.filter((line) => line.endsWith("subscribe"))).toEqual(["b subscribe", "b unsubscribe", "c subscribe"]);
  expect(session.client.sessionId).toBe("c");
});
