import { expect, onTestFinished, test, vi } from "vitest";
import { createSpawn } from "./spawn.ts";

test("a process that has ended is not signalled: another one may have its number", async () => {
  const child = await createSpawn()({ argv: ["true"], cwd: "/", env: { PATH: process.env["PATH"]! } });
  await child.exit;
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  child.signal("SIGKILL");
  expect(kill).not.toHaveBeenCalled();
});
