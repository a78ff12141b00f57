/** docs/install.md is true: its program is compiled and run here. The archives of the packages are compiled with the same settings in cli/test/packed. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWireServer, text } from "@tau/ai/testing";
import { expect, onTestFinished, test, vi } from "vitest";

const root = join(import.meta.dirname, "../../../..");
const page = readFileSync(join(root, "docs/install.md"), "utf8");

test("the smallest program is the one that is compiled and run here", async () => {
  const program = readFileSync(join(import.meta.dirname, "smallest-program.ts"), "utf8");
  expect([...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)).toEqual([program]);
  const server = await startWireServer("openai-completions", [
    { kind: "answer", answer: { content: [text("It counts files.")] } },
  ]);
  onTestFinished(() => server.close());
  const agentDir = mkdtempSync(join(tmpdir(), "tau-install-"));
  onTestFinished(() => rmSync(agentDir, { recursive: true, force: true }));
  vi.stubEnv("TAU_DIR", agentDir);
  vi.stubEnv("OLLAMA_HOST", server.url);
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  onTestFinished(() => void (vi.unstubAllEnvs(), log.mockRestore()));
  await import("./smallest-program.ts");
  expect(log.mock.calls).toEqual([["It counts files."]]);
});

test("every library has a row, and the version of Node is that of the packages", () => {
  const manifests = readdirSync(join(root, "packages"))
    .filter((name) => name !== "cli" && existsSync(join(root, "packages", name, "README.md")))
    .map((name) => JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as Manifest)
    .filter((manifest) => manifest.private !== true);
  const rows = [...page.matchAll(/^\| `(@tau\/[\w-]+)`/gm)].map(([, name]) => name!);
  expect(rows.toSorted()).toEqual(manifests.map(({ name }) => name).toSorted());
  for (const { engines } of manifests) expect(page).toContain(`Node.js ${engines.node.replace(">=", "")} or newer`);
});

interface Manifest {
  name: string;
  private?: boolean;
  engines: { node: string };
}
