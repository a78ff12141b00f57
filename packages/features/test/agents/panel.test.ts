/** The slash command `/agents`, with the dialogs that every surface has. */
import { call, text } from "@tau/ai/testing";
import { type ExtensionSurface, noUi } from "@tau/extensions";
import { expect, onTestFinished, test } from "vitest";
import { createGate, hang, openPlay } from "./script.ts";

test("an agent can be followed, steered, stopped and read", async () => {
  const heard: string[] = [];
  const steered = createGate();
  const { session, prompt } = await openPlay({
    main: (step) =>
      step === 1 ? [call("task", { description: "one", prompt: "Do.", background: true })] : [text("Ok.")],
    "1": async (step, context, signal) => {
      heard.push(JSON.stringify(context.messages));
      if (step > 1) return await hang(signal);
      await steered.opened;
      return [call("ls", {})];
    },
  });
  const answers: RegExp[] = [];
  const widgets: string[] = [];
  const notices: string[] = [];
  const texts: string[] = [];
  const surface: ExtensionSurface = {
    mode: "rpc",
    builtIns: { commands: [], keys: new Map() },
    ui: {
      ...noUi,
      select: async (_title, options) => {
        const wanted = answers.shift();
        return wanted && options.find((option) => wanted.test(option));
      },
      input: async () => "look at b.txt",
      editor: async (_title, prefill) => void texts.push(prefill ?? ""),
      notify: (message) => void notices.push(message),
      setWidget: (key, lines) => void (Array.isArray(lines) && widgets.push(`${key}: ${lines.join("\n")}`)),
    },
  };
  const stop = session.onFirstExtension(async () => void (await session.attachSurface(surface)));
  onTestFinished(stop);
  await prompt("/agents");
  expect(notices).toEqual([]);
  await prompt("go");
  await expect.poll(() => heard.length).toBeGreaterThan(0);

  answers.push(/^1 one/, /^Follow/, /^1 one/, /^Steer/);
  await prompt("/agents");
  expect(notices.at(-1)).toBe("Sent to agent 1 (one).");
  steered.open();
  await expect.poll(() => heard.join("\n")).toContain("look at b.txt");
  await expect.poll(() => widgets.join("\n")).toContain("agents.follow: agent 1 (one):\n> Do.");

  answers.push(/^1 one/, /^Stop it/);
  await prompt("/agents");
  await expect.poll(() => session.hasWork).toBe(false);
  const read = async () => {
    answers.splice(0, answers.length, /^1 one · stopped/, /^Read/);
    await prompt("/agents");
    return texts.at(-1);
  };
  await expect.poll(read).toMatch(/^> Do\.\n/);
});
