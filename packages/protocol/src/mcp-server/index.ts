/** The server side of MCP: sessions as tools, for every transport. */
export { answerRequest, readText } from "./answer-request.ts";
export { getProgressToken, getRevision, hasHandshake } from "./revisions.ts";
export type { SessionReport, ToolName } from "./tools.ts";
