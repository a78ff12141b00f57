/** pi's print mode: sends prompts, prints the last answer or all events, and ends. */
import type { AssistantMessage, ImageContent } from "@tau/ai";
import { contentText } from "@tau/pi/internal";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { AgentSessionRuntime } from "./agent-session-runtime.ts";

export interface PrintModeOptions {
  /** `text` prints the last answer, `json` every event as a line. */
  mode: "text" | "json";
  initialMessage?: string;
  /** Sent with the first message. */
  initialImages?: ImageContent[];
  /** Sent after the first message, one after the other. */
  messages?: string[];
}

/** Resolves with the exit code when the output is written and the runtime is disposed. */
export async function runPrintMode(runtime: AgentSessionRuntime, options: PrintModeOptions): Promise<number> {
  const { mode, initialMessage, initialImages, messages = [] } = options;
  let unsubscribe: (() => void) | undefined;
  const bind = async (session: AgentSession): Promise<void> => {
    unsubscribe?.();
    await session.bindExtensions({
      mode: mode === "json" ? "json" : "print",
      onError: ({ extensionPath, error }) => printError(`The extension ${extensionPath} failed: ${error}`),
    });
    unsubscribe = mode === "json" ? session.subscribe((event) => print(JSON.stringify(event))) : undefined;
  };
  try {
    if (mode === "json") print(JSON.stringify(runtime.session.sessionManager.getHeader()));
    runtime.setRebindSession(bind);
    await bind(runtime.session);
    if (initialMessage !== undefined) {
      await runtime.session.prompt(initialMessage, initialImages ? { images: initialImages } : {});
    }
    for (const message of messages) await runtime.session.prompt(message);
    return mode === "text" ? printAnswer(runtime.session) : 0;
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    unsubscribe?.();
    runtime.setRebindSession();
    await runtime.dispose();
    await flush();
  }
}

function printAnswer({ messages }: AgentSession): number {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return 0;
  const { stopReason, errorMessage, content } = last as AssistantMessage;
  if (stopReason === "error" || stopReason === "aborted") {
    printError(errorMessage ?? `The request ended: ${stopReason}`);
    return 1;
  }
  print(contentText(content, ""));
  return 0;
}

const printError = (line: string): void => void process.stderr.write(`${line}\n`);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** A pipe takes what is written to it later. */
const flush = (): Promise<void> => new Promise((resolve) => process.stdout.write("", () => resolve()));
