import { emptyView } from "@tau/protocol";
import { expect, test } from "vitest";
import type { SessionClient } from "./session-client.ts";
import { StatusArea } from "./status-area.ts";
import { Themes } from "./themes.ts";

/** Its answers wait until `answer` is called. */
function createClient(cwd: string) {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const client = { execute: () => answered.then(() => ({ cwd })) } as unknown as SessionClient;
  return { client, answer };
}

test("an answer of a session that is not shown any more does not count, however late it is", async () => {
  const { theme } = new Themes({ mode: "none", files: [] });
  const area = new StatusArea({
    theme,
    home: undefined,
    now: () => 0,
    getView: () => emptyView,
    getLate: () => [],
    getShellCommand: () => undefined,
    hasDialog: () => false,
    getEditorMode: () => undefined,
    getBranch: async () => "main",
    describeKey: () => "",
    requestRender: () => {},
  });
  const [first, second] = [createClient("/first"), createClient("/second")];
  const refreshing = [area.refresh(first.client), area.refresh(second.client)];
  second.answer();
  await refreshing[1];
  first.answer();
  await Promise.all(refreshing);
  expect(area.state?.cwd).toBe("/second");
});
