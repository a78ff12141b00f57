import { expect, test } from "vitest";
import { createLateSandbox } from "./late-sandbox.ts";
import { defaultSandboxSettings } from "./settings.ts";

test("what a person allows for the session is known, what they allow for one command is not", async () => {
  const sandbox = createLateSandbox(() => ({
    cwd: process.cwd(),
    settings: defaultSandboxSettings,
    home: "/home/me",
    agentDir: "/home/me/.tau",
  }));
  expect(sandbox.granted).toEqual({ hosts: [], paths: [] });
  await sandbox.widen({ hosts: ["once.example"], paths: [], term: "command" });
  expect(sandbox.granted).toEqual({ hosts: [], paths: [] });
  await sandbox.widen({ hosts: ["a.example"], paths: [], term: "session" });
  await sandbox.widen({ hosts: [], paths: ["/data"], term: "session" });
  expect(sandbox.granted).toEqual({ hosts: ["a.example"], paths: ["/data"] });
  await sandbox.close();
});
