/** Tests the reports on background jobs to a model, also after a restart. */
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { SessionManager } from "../../src/session/session-manager.ts";
import { openDesk, temporaryDirectory } from "./desk.ts";

const starts = (command = "sleep 600") => [call("bash", { command, background: true })];

test("a session that is opened again tells the model once which jobs are gone, and takes no old id for a new job", async () => {
  const directory = await temporaryDirectory();
  const manager = await SessionManager.create(directory, directory);
  const file = manager.getSessionFile()!;
  const { session } = await openDesk([starts("sleep 601"), [text("Started.")]], { sessionManager: manager });
  await session.prompt("Start it.");
  expect(session.jobs.list()).toMatchObject([{ id: "1" }]);
  await session.dispose();

  const again = await openDesk([[text("Gone.")], starts(), [text("Started again.")]], {
    sessionManager: await SessionManager.open(file),
  });
  expect(again.session.notices.map(({ message }) => message).join()).toContain("1 (sleep 601)");
  await again.session.prompt("Where is it?");
  const told = () => JSON.stringify(again.session.messages);
  expect(told().split("not running any more")).toHaveLength(2);
  await again.session.prompt("Start another one.");
  expect(again.session.jobs.list()).toMatchObject([{ id: "2" }]);
  await again.session.dispose();

  const last = await openDesk([], { sessionManager: await SessionManager.open(file) });
  const notices = last.session.notices.map(({ message }) => message).join();
  expect(notices).toContain("2 (sleep 600)");
  expect(notices).not.toContain("1 (sleep 601)");
  await last.session.dispose();
});

test("a branch that does not know of a running job is told of it", async () => {
  const { session } = await openDesk([[text("Hello.")], starts(), [text("Started.")], [text("I see.")]], {});
  await session.prompt("Hi.");
  const leaf = session.sessionManager.getLeafId()!;
  await session.prompt("Start it.");
  await session.navigate(leaf);
  await session.prompt("What is running?");
  expect(JSON.stringify(session.messages)).toContain("Background jobs that are running: 1 (sleep 600).");
  await session.dispose();
});
