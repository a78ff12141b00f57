/** The to-do list of a model: what it has to do, shown to the person. */
import type { Feature, FeatureTool } from "@tau/extensions";
import { formatProgress, parseTodos } from "./todo-list.ts";

export const todoTool: FeatureTool = {
  name: "todo",
  category: "coordination",
  label: "To-do list",
  description: "Write your to-do list for work of several steps. Each call replaces the whole list.",
  parameters: {
    type: "object",
    properties: {
      todos: {
        type: "array",
        items: {
          type: "object",
          properties: {
            content: { type: "string" },
            status: { type: "string", enum: ["pending", "in_progress", "completed"] },
          },
          required: ["content", "status"],
        },
      },
    },
    required: ["todos"],
  },
  promptSnippet: "keep a list of the steps of longer work",
  // It changes nothing but what is shown.
  access: () => [],
  readOnly: true,
  executionMode: "sequential",
  summarise: (args: unknown) => {
    const { todos } = parseTodos(args);
    return todos ? formatProgress(todos) : "To-do list";
  },
};

/** The feature `todo`: a list of steps that the model keeps, above the editor and on the page. */
export const todo = (): Feature => ({
  name: "todo",
  summary: "A list of steps that the model keeps during longer work, shown while it runs.",
  tools: [todoTool],
  load: async () => (await import("./todo.ts")).todoExtension,
});
