import { PassThrough } from "node:stream";
import { type Approval, type ApprovalAnswer, emptyView, type View } from "@tau/protocol";
import { expect, test } from "vitest";
import { answerApprovals } from "../src/modes/answer-approvals.ts";
import { createIo, createWorkspace } from "./kit.ts";

const createApproval = (id: string): Approval => ({
  id,
  toolCallId: `call ${id}`,
  toolName: "bash",
  summary: `summary ${id}`,
  reason: "It writes.",
  choices: [{ choice: "once", label: "Yes, this once" }],
});

test("questions are asked once, one after the other, also those of which only a view tells", async () => {
  const input = new PassThrough();
  const { io, written } = createIo(await createWorkspace(), { input, terminal: { err: true } });
  const answers: [string, ApprovalAnswer][] = [];
  let change: (view: View) => void = () => {};
  const show = (...ids: string[]) =>
    change({ ...emptyView, live: { ...emptyView.live, approvals: ids.map(createApproval) } });
  answerApprovals(
    {
      view: emptyView,
      onEvent: () => () => {},
      onChange: (listener) => ((change = listener), () => {}),
      approve: (id, answer) => void answers.push([id, answer]),
      abort: async () => {},
    },
    io,
  );
  const count = (text: string) => written.err.split(text).length - 1;

  show("1", "2");
  await expect.poll(() => count("summary 1")).toBe(1);
  input.write("y\n");
  // The answer is on its way.
  show("1", "2");
  await expect.poll(() => count("summary 2")).toBe(1);
  show("2");
  input.write("n\n");
  await expect
    .poll(() => answers)
    .toEqual([
      ["1", { decision: "allow", choice: "once" }],
      ["2", { decision: "deny" }],
    ]);

  // Somebody else answers.
  show("3");
  await expect.poll(() => count("summary 3")).toBe(1);
  show("4");
  await expect.poll(() => count("summary 4")).toBe(1);
  input.write("y\n");
  await expect.poll(() => answers.length).toBe(3);
  expect(answers[2]).toEqual(["4", { decision: "allow", choice: "once" }]);
  expect(["1", "2", "3", "4"].map((id) => count(`summary ${id}`))).toEqual([1, 1, 1, 1]);
});
