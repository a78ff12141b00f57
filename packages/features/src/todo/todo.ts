/** The code of the feature `todo`. The list is that of the last result on the branch, so it follows branches and forks. */
import type { ExtensionContext, ExtensionFactory } from "@tau/extensions";
import type { SessionEntry } from "@tau/protocol";
import { todoTool } from "./feature.ts";
import { describeTodos, formatResult, formatTodos, isDone, parseTodos, type Todo } from "./todo-list.ts";

export const todoExtension: ExtensionFactory = (tau) => {
  let todos: readonly Todo[] = [];
  let isRunning = false;
  const show = ({ ui }: Pick<ExtensionContext, "ui">): void => ui.setWidget("todo", describeTodos(todos, isRunning));
  const takeBranch = (context: ExtensionContext): void => {
    todos = findTodos(context.sessionManager.getBranch());
    isRunning = !context.isIdle();
    show(context);
  };

  tau.registerTool({
    ...todoTool,
    async execute(_id, args: unknown, _signal, _onUpdate, context) {
      const parsed = parseTodos(args);
      if (!parsed.todos) throw new Error(parsed.problem);
      todos = parsed.todos;
      isRunning = true;
      show(context);
      return { content: [{ type: "text", text: formatResult(todos) }], details: { todos } };
    },
  });
  tau.on("session_start", (_event, context) => takeBranch(context));
  tau.on("session_tree", (_event, context) => takeBranch(context));
  tau.on("agent_start", (_event, context) => {
    isRunning = true;
    show(context);
  });
  tau.on("agent_settled", (_event, context) => {
    isRunning = false;
    show(context);
  });
  tau.on("session_compact", ({ compactionEntry }, { sessionManager }) => {
    if (isDone(todos) || !isSummarised(sessionManager.getBranch(), compactionEntry.firstKeptEntryId)) return;
    const content = ["Your to-do list, from before the summary:", ...formatTodos(todos)].join("\n");
    tau.sendMessage({ customType: "todo", content, display: false });
  });
};

/** The list of a result that did not fail. */
function getTodos(entry: SessionEntry): readonly Todo[] | undefined {
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  if (message.role !== "toolResult" || message.toolName !== todoTool.name || message.isError) return undefined;
  return parseTodos(message.details).todos;
}

function findTodos(branch: readonly SessionEntry[]): readonly Todo[] {
  for (const entry of branch.toReversed()) {
    const todos = getTodos(entry);
    if (todos) return todos;
  }
  return [];
}

/** Whether the last list is in the part that a summary stands for. */
function isSummarised(branch: readonly SessionEntry[], firstKeptEntryId: string): boolean {
  const last = branch.findLastIndex((entry) => getTodos(entry) !== undefined);
  const kept = branch.findIndex(({ id }) => id === firstKeptEntryId);
  return last !== -1 && (kept === -1 || last < kept);
}
