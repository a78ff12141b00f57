import { expect, onTestFinished, test, vi } from "vitest";
import { createSpawn, planSignal } from "./spawn.ts";

test.each([
  ["a process, anywhere", "process", "win32", "SIGKILL", { kind: "signal", pid: 7 }],
  ["a group on Linux", "group", "linux", "SIGKILL", { kind: "signal", pid: -7 }],
  ["a group on macOS", "group", "darwin", "SIGTERM", { kind: "signal", pid: -7 }],
  [
    "a group on Windows, which has none",
    "group",
    "win32",
    "SIGTERM",
    { kind: "program", argv: ["D:\\Windows\\System32\\taskkill.exe", "/pid", "7", "/T", "/F"] },
  ],
] as const)("to signal %s reaches what was started", (_name, target, platform, signal, plan) => {
  expect(planSignal(7, signal, target, platform, "D:\\Windows")).toEqual(plan);
});

test("a process that has ended is not signalled: another one may have its number", async () => {
  const child = await createSpawn()({ argv: ["true"], cwd: "/", env: { PATH: process.env["PATH"]! } });
  await child.exit;
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  child.signal("SIGKILL");
  expect(kill).not.toHaveBeenCalled();
});
