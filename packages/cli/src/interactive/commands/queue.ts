/** `/queue` and `/approve`: what waits for the run, and what waits for the user. */
import { getTypedContent } from "@tau/protocol";
import { toPlainLine, toVisibleText } from "@tau/tui";
import { getShownText } from "../blocks/user-message.ts";
import type { Interface } from "../interface.ts";

export async function editQueue(ui: Interface): Promise<void> {
  const { steering, followUps } = ui.view.live;
  const queued = [...steering, ...followUps].map(({ id, content }, index) => ({
    id,
    text: getShownText(content as Parameters<typeof getShownText>[0]),
    typed: getTypedContent(content).text,
    when: index < steering.length ? "as soon as possible" : "after the run",
  }));
  if (queued.length === 0) return ui.say("Nothing is queued.");
  const items = queued.map(({ id, text, when }) => ({
    value: id,
    label: toPlainLine(text).slice(0, 200),
    description: when,
  }));
  const id = await ui.choose("Queued messages", items);
  const message = queued.find((one) => one.id === id);
  if (!message) return;
  const act = await ui.choose(toPlainLine(message.text).slice(0, 200), [
    { value: "edit", label: "Edit" },
    { value: "remove", label: "Remove" },
  ]);
  if (act === "remove") await ui.client.execute({ type: "remove_queued", id: message.id });
  if (act !== "edit") return;
  const text = await ui.edit("Message", message.typed);
  if (text === undefined || text.trim() === "") return;
  try {
    await ui.client.execute({ type: "edit_queued", id: message.id, message: text });
  } catch (error) {
    // The message may have been sent as it was.
    ui.setEditorText(text);
    throw error;
  }
}

export async function answerQuestions(ui: Interface): Promise<void> {
  const { approvals } = ui.view.live;
  if (approvals.length === 0) return ui.say("No question is open.");
  const items = approvals.map(({ id, toolName, summary, reason }) => ({
    value: id,
    label: toVisibleText(`${toolName} ${summary}`).slice(0, 200),
    description: toVisibleText(reason),
  }));
  const id = await ui.choose("Open questions", items);
  const approval = approvals.find((one) => one.id === id);
  if (approval) await ui.answer(approval);
}
