/** The packed program with the key chain of the operating system. */
import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, textReply } from "../kit.ts";
import { installed, runPacked } from "./kit.ts";

/** A session bus with an unlocked key ring. Its files are in the home directory, so they are there for the next one. */
const withSecretService = [
  "dbus-run-session",
  "--",
  "sh",
  "-c",
  'echo | gnome-keyring-daemon --unlock --components=secrets >&2 && exec "$@"',
  "sh",
];
const missing = ["dbus-run-session", "gnome-keyring-daemon"].filter((name) => spawnSync(name, ["--version"]).error);
const reason = `There is no Secret Service to test with: ${missing.join(" and ")} not installed.`;

const fakeKey = "fake-key-for-tests-1234";

async function createKeyWorkspace() {
  const workspace = await createModelWorkspace([textReply("Hello."), textReply("Hello again.")]);
  const { agentDir, directory, server } = workspace;
  const models = [{ id: "small", contextWindow: 64_000, maxTokens: 4_000 }];
  const acme = { baseUrl: server.url, api: "openai-completions", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  const stored = { acme: { type: "api_key", key: fakeKey, host: new URL(server.url).host } };
  await writeFile(join(agentDir, "auth.json"), JSON.stringify(stored), { mode: 0o600 });
  const runtime = join(directory, "run");
  await mkdir(runtime, { mode: 0o700 });
  const env = { XDG_RUNTIME_DIR: runtime, XDG_DATA_HOME: join(directory, "data"), DBUS_SESSION_BUS_ADDRESS: "" };
  const tau = (args: string[], through: string[] = withSecretService) => runPacked(workspace, args, { through, env });
  return { workspace, stored, tau, readAuth: () => readFile(join(agentDir, "auth.json"), "utf8") };
}

test("a key moves to a real Secret Service, is used from there by later processes, and moves back", async (context) => {
  if (missing.length > 0) {
    console.log(reason);
    context.skip(reason);
  }
  const { workspace, stored, tau, readAuth } = await createKeyWorkspace();
  const moved = await tau(["auth", "move", "keychain"]);
  expect(moved.out, moved.err).toContain("Moved: acme.");
  expect(JSON.parse(await readAuth())).toEqual({ acme: { type: "api_key", keyChain: true } });
  expect((await tau(["-p", "Hi"])).out).toBe("Hello.\n");
  expect(workspace.server.requests[0]?.headers["authorization"]).toBe(`Bearer ${fakeKey}`);
  expect((await tau(["auth", "status"])).out).toMatch(/acme +key chain, a key/);
  expect((await tau(["auth", "move", "file"])).out).toContain("Moved: acme.");
  expect(JSON.parse(await readAuth())).toEqual(stored);
  expect((await tau(["-p", "Hi"], [])).out).toBe("Hello again.\n");
});

test("without a key chain, or without its library, nothing is moved", async () => {
  const { workspace, stored, tau, readAuth } = await createKeyWorkspace();
  if (process.platform === "linux") {
    const { code, err } = await tau(["auth", "move", "keychain"], []);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("Secret Service") });
  }
  // Outside of the installation the program finds no packages.
  const alone = join(workspace.directory, "alone");
  await cp(await installed(), alone, { recursive: true });
  const through = ["sh", "-c", `shift 2; exec "${process.execPath}" "${alone}/dist/tau.cjs" "$@"`, "sh"];
  const { code, err } = await tau(["auth", "move", "keychain"], through);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("@napi-rs/keyring is not installed") });
  expect(JSON.parse(await readAuth())).toEqual(stored);
});
