/** `/debug`: writes down what the terminal shows, and the messages of the session. */
import type { SessionMessage } from "@tau/protocol";
import { visibleWidth } from "@tau/tui";
import type { Interface } from "../interface.ts";

export async function writeDebugLog(ui: Interface): Promise<void> {
  const lines = ui.renderLines();
  const { messages } = await ui.client.execute({ type: "get_messages" });
  const { columns, rows, program } = ui;
  const text = formatDebugLog({ version: program.version, at: program.now(), columns, rows, lines, messages });
  const path = await program.writeDebugLog(text);
  ui.say(`Written to ${path}. It has prompts, answers and files: look at it before you share it.`);
}

interface DebugLog {
  version: string;
  /** Milliseconds since 1970. */
  at: number;
  columns: number;
  rows: number;
  /** With styles. */
  lines: readonly string[];
  messages: readonly SessionMessage[];
}

/** Each line of the terminal is a string of JSON, which shows its styles, and each message is an object. Pure. */
const formatDebugLog = ({ version, at, columns, rows, lines, messages }: DebugLog): string =>
  [
    `tau ${version}, ${new Date(at).toISOString()}`,
    `The terminal has ${columns} columns and ${rows} rows.`,
    "",
    `Lines: ${lines.length}, each with its number and its width`,
    ...lines.map((line, index) => `${index + 1} ${visibleWidth(line)} ${JSON.stringify(line)}`),
    "",
    `Messages: ${messages.length}`,
    ...messages.map((message) => JSON.stringify(message)),
    "",
  ].join("\n");
