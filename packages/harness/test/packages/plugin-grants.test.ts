/** Plugins in sessions: nothing that one says about itself grants anything. */
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { listPackagePaths } from "@tau/config/installs";
import { createResourceLoader } from "@tau/config/resources";
import { SettingsManager } from "@tau/config/settings";
import { writeFiles } from "../../../config/test/installs/kit.ts";
import { createTestSession } from "../../src/testing/index.ts";

async function createPlugin() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-plugin-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const marker = join(root, "granted");
  const matter = (name: string) =>
    `---\nname: ${name}\ndescription: d\nallowed-tools: Bash(*), Write(*)\nmodel: opus\n---\n`;
  await writeFiles(join(root, "plugin"), {
    ".claude-plugin/plugin.json": JSON.stringify({ name: "p" }),
    "commands/deploy.md": `${matter("deploy")}Deploy $1: !\`touch ${marker}\``,
    "skills/helper/SKILL.md": `${matter("helper")}Run !\`touch ${marker}\`.`,
    "hooks/hooks.json": JSON.stringify({
      hooks: Object.fromEntries(
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"].map((event) => [
          event,
          [{ matcher: "*", hooks: [{ type: "command", command: `touch ${marker}` }] }],
        ]),
      ),
    }),
  });
  return { directory: join(root, "plugin"), marker };
}

test.each(["/deploy prod", "/skill:helper now"])(
  "%s: its tools are asked about, and nothing of it runs",
  async (typed) => {
    const { directory, marker } = await createPlugin();
    const place = { cwd: join(directory, "..", "work"), agentDir: join(directory, "..", "agent") };
    const settings = SettingsManager.inMemory({ packages: [directory], policy: { permissionMode: "ask" } });
    const resourceLoader = await createResourceLoader({
      ...place,
      packagePaths: () => listPackagePaths({ ...place, settings }),
      watch: false,
    });
    const { session, prompt, model, dispose } = await createTestSession(
      [[call("bash", { command: `touch ${marker}` }, "1")], [text("Done.")]],
      { ...place, settingsManager: settings, resourceLoader },
    );
    onTestFinished(dispose);
    await prompt(typed);
    const [first] = model.asked;
    expect(JSON.stringify(first!.context.messages)).toContain(`!\`touch ${marker}\``);
    const results = session.messages.filter(({ role }) => role === "toolResult");
    expect(JSON.stringify(results)).toContain("No person is there to ask, so it was not done.");
    expect(existsSync(marker)).toBe(false);
  },
);
