/** The tools that sessions are offered with. */

const session = { type: "string", description: "The id of a session, as run answers it." } as const;

const outputSchema = {
  type: "object",
  properties: {
    session: { type: "string" },
    state: { enum: ["running", "done", "failed", "idle"] },
    answer: { type: "string" },
    reason: { type: "string", description: "Why the run ended, unless the answer is all there is to say." },
    activity: { type: "string" },
  },
  required: ["session", "state"],
} as const;

/** Descriptions are read by a model. */
export const toolDefinitions = [
  {
    name: "run",
    title: "Run an agent",
    description:
      "Give a task to a coding agent that works in the directory of this server, and wait for its answer. Without a session, a new one is begun. Nobody can be asked meanwhile: what needs approval is denied. Cancelling the call ends the run.",
    inputSchema: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "The task." },
        session: { ...session, description: "Continue this session. Default: a new one." },
        wait: { type: "boolean", description: "Default true. False answers at once; ask result for the answer." },
      },
      required: ["prompt"],
    },
    outputSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  {
    name: "steer",
    title: "Steer a run",
    description:
      "Send a message to a session whose run is in progress. The agent reads it after its current tool calls.",
    inputSchema: {
      type: "object",
      properties: { session, message: { type: "string" } },
      required: ["session", "message"],
    },
    outputSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  {
    name: "status",
    title: "Status of a session",
    description: "Say whether a session is running, and what it is doing.",
    inputSchema: { type: "object", properties: { session }, required: ["session"] },
    outputSchema,
    annotations: { readOnlyHint: true },
  },
  {
    name: "result",
    title: "Result of a run",
    description:
      "Wait until the run of a session is over, and get its answer. Cancelling the call does not end the run.",
    inputSchema: { type: "object", properties: { session }, required: ["session"] },
    outputSchema,
    annotations: { readOnlyHint: true },
  },
] as const;

export type ToolName = (typeof toolDefinitions)[number]["name"];

export interface SessionReport {
  session: string;
  state: "running" | "done" | "failed" | "idle";
  answer?: string;
  reason?: string;
  activity?: string;
}

/** A longer answer is cut: it becomes part of another model's context. */
const maxAnswerLength = 50_000;

/** The result of a call. The text says the same as the structured content, for clients that only show text. Pure. */
export function toToolResult(report: SessionReport) {
  const { session: id, state, answer = "", reason, activity } = report;
  const isCut = answer.length > maxAnswerLength;
  const shown = isCut
    ? `${answer.slice(0, maxAnswerLength)}\n[The answer has ${answer.length} characters. All of it: tau sessions show ${id}]`
    : answer;
  const lines = [
    ...(shown === "" ? [] : [shown]),
    ...(reason === undefined ? [] : [reason]),
    `[session ${id}: ${state}${activity === undefined ? "" : `, ${activity}`}]`,
  ];
  return {
    content: [{ type: "text", text: lines.join("\n\n") }],
    structuredContent: { ...report, ...(report.answer !== undefined && { answer: shown }) },
    ...(state === "failed" && { isError: true }),
  };
}

export const toToolError = (message: string) => ({ content: [{ type: "text", text: message }], isError: true });
