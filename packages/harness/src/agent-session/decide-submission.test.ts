import { expect, test } from "vitest";
import { decideSubmission, type SubmissionFacts, type SubmissionStep } from "./decide-submission.ts";

const idle: SubmissionFacts = {
  isBusy: false,
  hasForm: false,
  queue: undefined,
  source: "rpc",
  cameFirst: false,
  interrupt: false,
};
const busy: SubmissionFacts = { ...idle, isBusy: true };
const queued = (queue: "steer" | "followUp", interrupts = false): SubmissionStep => ({
  kind: "queue",
  queue,
  interrupts,
});

test.each<[law: string, SubmissionFacts, SubmissionStep]>([
  ["an idle session starts a run", idle, { kind: "start" }],
  ["an idle session starts a run with a steering message", { ...idle, queue: "steer" }, { kind: "start" }],
  ["an idle session has no turn to interrupt", { ...idle, queue: "steer", interrupt: true }, { kind: "start" }],
  ["an idle session starts a run for an extension", { ...idle, source: "extension" }, { kind: "start" }],
  ["an idle session starts a run with what came before it", { ...idle, cameFirst: true }, { kind: "start" }],
  ["during a run a prompt without a queue is refused", busy, { kind: "refuse" }],
  ["so is one of an extension", { ...busy, source: "extension" }, { kind: "refuse" }],
  ["an interruption alone names no queue", { ...busy, interrupt: true }, { kind: "refuse" }],
  ["during a run a steering message is queued", { ...busy, queue: "steer" }, queued("steer")],
  ["during a run a follow-up is queued", { ...busy, queue: "followUp" }, queued("followUp")],
  ["a steering message may interrupt", { ...busy, queue: "steer", interrupt: true }, queued("steer", true)],
  ["a follow-up may interrupt", { ...busy, queue: "followUp", interrupt: true }, queued("followUp", true)],
  ["a prompt that came first waits for the run", { ...busy, cameFirst: true }, { kind: "wait" }],
  ["a prompt that came first and has a queue is queued", { ...busy, cameFirst: true, queue: "steer" }, queued("steer")],
  [
    "a prompt of an extension that came first follows the run",
    { ...busy, cameFirst: true, source: "extension" },
    queued("followUp"),
  ],
  ["a prompt with a form is not queued", { ...busy, hasForm: true, queue: "followUp" }, { kind: "refuse" }],
  ["one that came first waits for the run", { ...busy, hasForm: true, cameFirst: true }, { kind: "wait" }],
])("%s", (_law, facts, step) => {
  expect(decideSubmission(facts)).toEqual(step);
});
