import { expect, test } from "vitest";
import type { ExtensionEvent } from "../api/events.ts";
import { createRegistrations } from "../api/extension.ts";
import { fillRegistrations } from "./forwarders.ts";
import type { HostcallRun } from "./hostcalls/hostcall.ts";
import { sessionCalls } from "./hostcalls/session.ts";

/** Runs a handler of `input` on a prompt, with an extension that answers with `text`. */
async function transform(typed: string, text: string): Promise<unknown> {
  const registrations = createRegistrations();
  const nothing = {
    tools: [],
    commands: [],
    shortcuts: [],
    flags: [],
    providers: [],
    virtualModels: [],
    needsTrust: [],
  };
  const supervisor = {
    call: async () => ({ value: { action: "transform", text } }),
    stream: () => {},
    mayReadSession: async () => false,
  };
  const parts = { supervisor, onInputChanged: () => {}, ownCode: "/own" };
  fillRegistrations(registrations, { handlers: [["input", [0]]], ...nothing }, parts);
  const event: ExtensionEvent<"input"> = { type: "input", text: typed, source: "interactive" };
  return await registrations.handlers.get("input")![0]!(event, {} as never);
}

test("a handler of a prompt may keep what the user mentions, but mentions no other file", async () => {
  const kept = "Please see @notes.md, thanks.";
  expect(await transform("see @notes.md", kept)).toEqual({ action: "transform", text: kept });
  for (const added of ["@~/diary.txt", '@"../other/.env"', "@notes.md/../x", "@/etc/hosts."]) {
    await expect(transform("see @notes.md and `@/etc/hosts`", `see ${added}`)).rejects.toThrow(/needs trust/);
  }
});

test("a message is sent as it is, never expanded", () => {
  const sent: unknown[] = [];
  const run = { session: { sendUserMessage: (...args: unknown[]) => sent.push(args) } } as unknown as HostcallRun;
  const send = (options: unknown) => sessionCalls["sendUserMessage"]!.run!(["/deploy @~/diary.txt", options], run);
  for (const expandPromptTemplates of [true, 1, "false"])
    expect(() => send({ expandPromptTemplates })).toThrow(/needs trust/);
  send({ expandPromptTemplates: null, source: "interactive", deliverAs: "steer" });
  send({ deliverAs: "now" });
  expect(sent).toEqual([
    ["/deploy @~/diary.txt", { deliverAs: "steer" }],
    ["/deploy @~/diary.txt", {}],
  ]);
});
