/**
 * A list of what is to be done, for the model and for you. The model keeps it with the tool `todo`; it is shown above the
 * editor, and `/todo` prints it. The list is in the results of the tool, so it follows you to another branch of the session.
 */
import type { ExtensionAPI, ExtensionContext } from "@tau/extensions";

interface Item {
  text: string;
  isDone: boolean;
}

interface TodoParameters {
  action: "add" | "done" | "list";
  text?: string;
  number?: number;
}

export default function todoList(tau: ExtensionAPI): void {
  let items: Item[] = [];

  /** The list as the last call on this branch left it. */
  const restore = (context: ExtensionContext): void => {
    items = [];
    for (const entry of context.sessionManager.getBranch()) {
      if (entry.type !== "message" || entry.message.role !== "toolResult" || entry.message.toolName !== "todo")
        continue;
      const details = entry.message.details as { items?: Item[] } | undefined;
      if (details?.items) items = details.items;
    }
    show(context);
  };
  const show = ({ ui }: ExtensionContext): void => {
    const isOpen = items.some(({ isDone }) => !isDone);
    ui.setWidget("todo", isOpen ? formatList(items) : undefined);
  };
  tau.on("session_start", (_event, context) => restore(context));
  tau.on("session_tree", (_event, context) => restore(context));

  tau.registerCommand("todo", {
    description: "Show what is to be done",
    handler: (_args, { ui }) => ui.notify(items.length > 0 ? formatList(items).join("\n") : "Nothing is to be done."),
  });

  tau.registerTool({
    name: "todo",
    label: "To-do list",
    description: "Keep a list of steps: add one, mark one as done by its number, or list all.",
    promptGuidelines: ["For work of three steps or more, keep the steps in todo, and mark each as done."],
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: ["add", "done", "list"] },
        text: { type: "string", description: "For add" },
        number: { type: "integer", minimum: 1, description: "For done" },
      },
      required: ["action"],
    },
    async execute(_id, params: TodoParameters, _signal, _onUpdate, context) {
      items = change(items, params);
      show(context);
      const text = items.length > 0 ? formatList(items).join("\n") : "The list is empty.";
      return { content: [{ type: "text", text }], details: { items } };
    },
  });
}

/** Throws the error that the model reads if the change is not possible. */
function change(items: readonly Item[], { action, text = "", number = 0 }: TodoParameters): Item[] {
  switch (action) {
    case "list":
      return [...items];
    case "add":
      if (text.trim() === "") throw new Error("To add a step, say in `text` what it is.");
      return [...items, { text: text.trim(), isDone: false }];
    case "done":
      if (!items[number - 1]) throw new Error(`There is no step ${number}; the list has ${items.length}.`);
      return items.map((item, index) => (index === number - 1 ? { ...item, isDone: true } : item));
  }
}

const formatList = (items: readonly Item[]): string[] =>
  items.map(({ text, isDone }, index) => `${isDone ? "✓" : "○"} ${index + 1}. ${text}`);
