/** Sessions on a machine that has no Python. */
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { SettingsManager } from "@tau/config/settings";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { FeaturePlace } from "@tau/extensions";
import { kernels } from "../../src/index.ts";
import { openKernels } from "./kit.ts";

afterEach(() => vi.unstubAllEnvs());

const describePlace = (settings: object): FeaturePlace => ({
  cwd: "/",
  agentDir: "/",
  settings: SettingsManager.inMemory(settings, { features: [kernels()] }),
  env: process.env,
  canStartPrograms: true,
  openAuth: () => Promise.reject(new Error("Nobody asks.")),
});

const check = (settings: object = {}) => kernels().doctor![0]!.check(describePlace(settings));

/** Links all programs but Python's. The sandbox needs some of them. */
function linkPrograms(directory: string): void {
  const linked = new Set<string>();
  for (const place of process.env["PATH"]!.split(delimiter).filter((path) => existsSync(path))) {
    for (const name of readdirSync(place)) {
      if (/^(?:python|pypy)/.test(name) || linked.has(name)) continue;
      linked.add(name);
      symlinkSync(join(place, name), join(directory, name));
    }
  }
}

test("only JavaScript is offered, and a cell of Python is refused", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tau-no-python-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  linkPrograms(directory);
  vi.stubEnv("PATH", directory);
  vi.stubEnv("VIRTUAL_ENV", "");
  const { callTool, run } = await openKernels();
  const search = await callTool("tool_search", { query: "eval" });
  expect(search.text).toContain("javascript");
  expect(search.text).not.toMatch(/python/i);
  expect(await run("python", "1")).toMatchObject({ isError: true });
  const cell = await run("javascript", "await py('1').catch((error) => error.name)");
  expect(cell.details.value, cell.text).toBe("KernelError");
});

test("where there is one, both are offered", async () => {
  const { callTool } = await openKernels({ settings: { kernels: { python: process.execPath } } as object });
  expect((await callTool("tool_search", { query: "eval" })).text).toMatch(/python.*javascript/i);
});

test("the doctor says which Python is used, and that there is none", async () => {
  const named = await check({ kernels: { python: process.execPath } });
  expect(named).toEqual({ status: "ok", says: `Python kernels run ${process.execPath}` });
  expect(await check({ kernels: { python: "/does/not/exist" } })).toMatchObject({
    status: "warn",
    says: "the Python of kernels.python, /does/not/exist, does not exist, so cells can only be JavaScript",
    fix: "Correct kernels.python.",
  });
  vi.stubEnv("PATH", "/does/not/exist");
  vi.stubEnv("VIRTUAL_ENV", "");
  expect(await check()).toMatchObject({
    status: "warn",
    says: "there is no python3, so cells can only be JavaScript",
    fix: expect.stringContaining("Install python3"),
  });
});
