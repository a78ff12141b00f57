/** `/mcp` in a session: signing in to a server and out of it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "@tau/ai/testing";
import { AuthStorage } from "@tau/config/auth";
import { expect, test } from "vitest";
import { Answering, makePlace, open } from "./session-kit.ts";
import { startOAuthServer } from "./oauth-server.ts";

test("signing in and out in the panel", async () => {
  const server = await startOAuthServer();
  const place = await makePlace();
  const entry = { type: "http", url: server.url };
  await writeFile(join(place.agentDir, "mcp.json"), JSON.stringify({ mcpServers: { docs: entry } }));
  const authStorage = AuthStorage.inMemory();
  const opened = await open([[text("Hi.")]], place, { authStorage });
  const person = new Answering(true);
  /** Labels to choose, one after the other; then the panel is left. */
  let choices: string[] = [];
  const shown: string[] = [];
  Object.assign(person.ui, {
    async select(title: string, options: readonly string[]) {
      shown.push(title, ...options);
      const wanted = choices.shift();
      return wanted === undefined ? undefined : options.find((option) => option.startsWith(wanted));
    },
    async input(_title: string, _placeholder: string, { signal }: { signal: AbortSignal }) {
      // The browser is quicker than a person who pastes.
      return await new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    },
    notify(message: string) {
      person.notices.push(message);
      const url = /https?:\/\/\S+\/authorize\S*/.exec(message)?.[0];
      if (url !== undefined) void server.approve(url).then((address) => fetch(address));
    },
  });
  await opened.session.attachSurface(person);
  const choose = async (...labels: string[]) => {
    choices = labels;
    person.notices.length = 0;
    await opened.session.prompt("/mcp");
    return person.notices.join("\n");
  };
  expect(await choose("docs", "Connect")).toContain("wants you to sign in");
  expect(await choose("docs", "Sign in")).toContain("You are signed in to the MCP server docs.");
  // The host is shown before there is an address.
  expect(person.asked[0]).toContain(new URL(server.url).host);
  expect(await authStorage.list()).toHaveLength(1);
  await choose();
  expect(shown.at(-1)).toMatch(/^docs: .*1 tools/);
  expect(await choose("docs", "Sign out")).toBe("You are signed out of the MCP server docs.");
  expect(await authStorage.list()).toEqual([]);
  expect(await choose("docs", "Connect")).toContain("wants you to sign in");
  expect(await choose("docs", "Sign out")).toBe("You were not signed in to the MCP server docs.");
});
